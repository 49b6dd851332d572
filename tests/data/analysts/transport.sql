-- Trips in total
select count(*) as trips from trips

-- Active cards
SELECT count(distinct card_id) FROM mobility.trips;

-- Trips per day
SELECT trip_date, COUNT(*) AS trips
FROM trips
GROUP BY trip_date
ORDER BY trip_date;

-- Trips per hour of day, as text with two digits
SELECT strftime(started_at, '%H') AS hh, COUNT(*) AS trips FROM trips GROUP BY hh ORDER BY hh;

-- Peak or off-peak?
SELECT CASE
         WHEN EXTRACT(hour FROM started_at) BETWEEN 7 AND 9 THEN 'morning peak'
         WHEN EXTRACT(hour FROM started_at) BETWEEN 16 AND 18 THEN 'evening peak'
         ELSE 'off-peak'
       END AS period,
       COUNT(*) AS trips,
       AVG(delay_s) AS avg_delay
FROM trips
GROUP BY period;

-- Weekday by mode
SELECT mode, dayofweek(trip_date) AS weekday, COUNT(*) AS trips
FROM trips
GROUP BY mode, dayofweek(trip_date)
ORDER BY mode, weekday;

-- Weekend share by mode, in per cent
SELECT mode, ROUND(100.0 * SUM(CASE WHEN isodow(trip_date) >= 6 THEN 1 ELSE 0 END) / COUNT(*), 1) AS weekend_pct
FROM trips
GROUP BY mode
ORDER BY weekend_pct DESC;

-- Revenue by line
SELECT LINE, SUM(FARE) AS REVENUE FROM TRIPS GROUP BY LINE ORDER BY REVENUE DESC;

-- Revenue per kilometre by line
SELECT line, SUM(fare) / SUM(distance_km) AS eur_per_km
FROM trips
WHERE distance_km > 0
GROUP BY line;

-- Revenue per trip and per card by kind of ticket
SELECT ticket_type,
       COUNT(*)                                  AS trips,
       COUNT(DISTINCT card_id)                   AS cards,
       SUM(fare) / COUNT(*)                      AS per_trip,
       SUM(fare) / COUNT(DISTINCT card_id)       AS per_card
FROM trips
GROUP BY ticket_type
ORDER BY ticket_type;

-- Top 3 boarding stops
SELECT from_stop, COUNT(*) AS boardings FROM trips GROUP BY from_stop ORDER BY COUNT(*) DESC LIMIT 3;

-- Boardings with the stop's proper name
SELECT s.stop_name, s.district, COUNT(*) AS boardings
FROM trips t
JOIN stops s ON t.from_stop = s.stop_code
GROUP BY s.stop_name, s.district
ORDER BY boardings DESC;

-- Origin-destination matrix
SELECT from_stop, to_stop, COUNT(*) AS trips
FROM trips
WHERE to_stop IS NOT NULL
GROUP BY from_stop, to_stop
ORDER BY trips DESC;

-- OD matrix by district, stops joined twice
SELECT o.district AS origin, d.district AS destination, COUNT(*) AS trips
FROM trips t
JOIN stops o ON o.stop_code = t.from_stop
JOIN stops d ON d.stop_code = t.to_stop
GROUP BY o.district, d.district;

-- Zones crossed, only the pairs that matter
SELECT zone_from, zone_to, COUNT(*) AS n
FROM trips
GROUP BY 1, 2
HAVING COUNT(*) > 20
ORDER BY 1, 2;

-- Distance between zones summed
SELECT abs(zone_to - zone_from) AS zones_crossed, COUNT(*) AS n, SUM(distance_km) AS km
FROM trips
GROUP BY abs(zone_to - zone_from)
ORDER BY zones_crossed;

-- Missing tap-offs per line, the line with most of them only
SELECT line, COUNT(*) - COUNT(to_stop) AS no_tap_off, COUNT(*) AS trips
FROM trips
GROUP BY line
QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) - COUNT(to_stop) DESC) = 1;

-- Missing tap-offs per operator in per cent
SELECT l.operator, 100 * AVG(CASE WHEN t.to_stop IS NULL THEN 1.0 ELSE 0 END) AS pct_missing
FROM mobility.trips AS t
INNER JOIN mobility.lines AS l USING (line)
GROUP BY l.operator
ORDER BY pct_missing DESC;

-- Average delay in minutes by line
SELECT line, AVG(delay_s / 60.0) AS delay_min FROM trips GROUP BY line ORDER BY line;

-- Punctuality: share of trips less than three minutes late
SELECT line,
       AVG(CASE WHEN delay_s < 180 THEN 1 ELSE 0 END) AS on_time
FROM trips
WHERE delay_s IS NOT NULL
GROUP BY line
ORDER BY on_time;

-- Punctuality with filters, all modes in one row
SELECT COUNT(*) FILTER (WHERE delay_s < 180)::DOUBLE / COUNT(delay_s) AS all_modes,
       COUNT(*) FILTER (WHERE mode = 'bus' AND delay_s < 180)::DOUBLE / COUNT(*) FILTER (WHERE mode = 'bus' AND delay_s IS NOT NULL) AS bus,
       COUNT(*) FILTER (WHERE mode = 'tram' AND delay_s < 180)::DOUBLE / COUNT(*) FILTER (WHERE mode = 'tram' AND delay_s IS NOT NULL) AS tram
FROM trips;

-- Delay bands
SELECT CASE WHEN delay_s <= 0 THEN 'a early or on time'
            WHEN delay_s <= 300 THEN 'b up to 5 min'
            WHEN delay_s <= 900 THEN 'c up to 15 min'
            WHEN delay_s > 900 THEN 'd more'
       END AS band, COUNT(*) AS n
FROM trips
WHERE delay_s IS NOT NULL
GROUP BY CASE WHEN delay_s <= 0 THEN 'a early or on time'
              WHEN delay_s <= 300 THEN 'b up to 5 min'
              WHEN delay_s <= 900 THEN 'c up to 15 min'
              WHEN delay_s > 900 THEN 'd more'
         END
ORDER BY band;

-- Median delay by line
SELECT line, median(delay_s) AS med FROM trips GROUP BY line;

-- 95th percentile of delay per mode
SELECT mode, quantile_cont(delay_s, 0.95) AS p95 FROM trips GROUP BY mode ORDER BY p95 DESC;

-- Approximate 90th percentile of distance
SELECT approx_quantile(distance_km, 0.9) AS p90_km FROM trips WHERE mode <> 'ferry';

-- Worst delay of each line
SELECT line, MAX(delay_s) AS worst FROM trips GROUP BY line;

-- Mean trip time in minutes
SELECT mode, AVG(date_diff('second', started_at, ended_at)) / 60 AS minutes
FROM trips
WHERE ended_at IS NOT NULL
GROUP BY mode;

-- Mean speed in km/h by mode
SELECT mode,
       SUM(distance_km) / (SUM(epoch(ended_at) - epoch(started_at)) / 3600.0) AS kmh
FROM trips
WHERE ended_at > started_at AND distance_km IS NOT NULL
GROUP BY mode;

-- Ridership per month and mode
SELECT date_trunc('month', started_at)::date AS month, mode, COUNT(*) AS trips, COUNT(DISTINCT card_id) AS riders
FROM trips
GROUP BY 1, mode
ORDER BY 1, 2;

-- Ridership per ISO week in spring
SELECT extract(week from trip_date) AS wk, COUNT(*) AS trips
FROM trips
WHERE trip_date BETWEEN '2024-03-01' AND '2024-05-31'
GROUP BY wk
ORDER BY wk;

-- Are holidays quieter?
SELECT CASE WHEN h.day IS NULL THEN 'ordinary day' ELSE 'holiday' END AS kind,
       COUNT(*) AS trips, COUNT(DISTINCT t.trip_date) AS days
FROM trips t
LEFT JOIN holidays h ON h.day = t.trip_date
GROUP BY kind;

-- Trips on each holiday
SELECT h.holiday, COUNT(*) AS trips FROM trips t, holidays h WHERE t.trip_date = h.day GROUP BY h.holiday;

-- Concession share by mode
SELECT mode, SUM(concession::int) * 100.0 / COUNT(concession) AS concession_pct
FROM trips
GROUP BY mode;

-- Fares with and without concession
SELECT concession, COUNT(*) AS n, ROUND(AVG(fare), 2) AS avg_fare, STDDEV_SAMP(fare) AS sd_fare
FROM trips
GROUP BY concession
ORDER BY concession NULLS LAST;

-- Night trips by line in numbers and per cent
SELECT line, SUM(CASE WHEN night THEN 1 ELSE 0 END) AS night_trips,
       ROUND(SUM(CASE WHEN night THEN 1 ELSE 0 END) * 100.0 / COUNT(*), 1) AS pct
FROM trips
GROUP BY line
ORDER BY night_trips DESC;

-- Bus lines only
SELECT line, COUNT(*) FROM trips WHERE line LIKE 'B%' GROUP BY line;

-- Metro and tram to the park
SELECT COUNT(*) AS n FROM trips WHERE mode IN ('metro', 'tram') AND to_stop = 'PARK' AND NOT night;

-- Sales channels, including unknown ones
SELECT COALESCE("App Channel", 'unknown') AS channel, COUNT(*) AS n
FROM trips
GROUP BY COALESCE("App Channel", 'unknown')
ORDER BY n DESC;

-- Average load against capacity
SELECT t.line, AVG(t.load_pct) AS load, AVG(t.load_pct / 100 * l.capacity) AS passengers_on_board
FROM trips t LEFT JOIN lines l ON l.line = t.line
GROUP BY t.line;

-- Crowded trips by hour, holidays left out
SELECT hour(started_at) AS hr, count_if(load_pct > 100) AS crowded, COUNT(*) AS trips
FROM trips
WHERE trip_date NOT IN (SELECT day FROM holidays)
GROUP BY ALL
ORDER BY hr;

-- How many vehicles were seen on each line
SELECT line, COUNT(DISTINCT vehicle_id) AS vehicles FROM trips GROUP BY line ORDER BY vehicles DESC;

-- Ten busiest vehicles
SELECT vehicle_id, COUNT(*) AS trips, SUM(distance_km) AS km
FROM trips
GROUP BY vehicle_id
ORDER BY trips DESC
FETCH FIRST 10 ROWS ONLY;

-- Trips per rider, on average and at most
SELECT AVG(n) AS avg_trips, MAX(n) AS max_trips
FROM (SELECT card_id, COUNT(*) AS n FROM trips GROUP BY card_id) x;

-- Regular riders: cards with more than 15 trips, by ticket
WITH per_card AS (
  SELECT card_id, ticket_type, COUNT(*) AS n
  FROM trips
  GROUP BY card_id, ticket_type
)
SELECT ticket_type, COUNT(*) AS cards, COUNT(*) FILTER (WHERE n > 15) AS regulars
FROM per_card
GROUP BY ticket_type;

-- Riders of both metro and ferry
SELECT COUNT(DISTINCT m.card_id)
FROM trips m
JOIN trips f ON f.card_id = m.card_id
WHERE m.mode = 'metro' AND f.mode = 'ferry';

-- The time since the card's previous trip, in hours, on average
SELECT avg(hours) FROM (
  SELECT (epoch(started_at) - epoch(lag(started_at) OVER (PARTITION BY card_id ORDER BY started_at))) / 3600 AS hours
  FROM trips
);

-- Month-over-month growth
WITH m AS (SELECT date_trunc('month', trip_date) AS month, COUNT(*) AS trips FROM trips GROUP BY 1)
SELECT month, trips, trips - LAG(trips) OVER (ORDER BY month) AS change
FROM m
ORDER BY month;

-- Modal split in per cent
SELECT mode, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS share FROM trips GROUP BY mode;

-- Lines ranked by trips
SELECT line, COUNT(*) AS trips, RANK() OVER (ORDER BY COUNT(*) DESC) AS rnk FROM trips GROUP BY line ORDER BY rnk;

-- Cube of mode and ticket
SELECT mode, ticket_type, COUNT(*) AS trips, SUM(fare) AS revenue
FROM trips
GROUP BY CUBE (mode, ticket_type);

-- Trips of the last seven days
SELECT COUNT(*) FROM trips WHERE started_at > now() - INTERVAL '7 days';

-- First week of June in detail, by accessible and other stops
WITH june AS (
    SELECT card_id, from_stop, trip_date
    FROM trips
    WHERE trip_date >= DATE '2024-06-01'
      AND trip_date <  DATE '2024-06-01' + INTERVAL '7 days'
)
SELECT COALESCE(s.accessible, FALSE) AS accessible, COUNT(*) AS trips, COUNT(DISTINCT j.card_id) AS riders
FROM june j JOIN stops s ON s.stop_code = j.from_stop
GROUP BY 1;

-- Transfers: mean number and share of direct trips
SELECT AVG(transfers) AS mean_transfers, SUM(CASE transfers WHEN 0 THEN 1 ELSE 0 END) / CAST(COUNT(*) AS DOUBLE) AS direct
FROM trips;

-- [postgres] Trips per half hour of the morning
SELECT date_part('hour', started_at) AS h, floor(date_part('minute', started_at) / 30) AS half, count(*) AS trips
FROM mobility.trips
WHERE date_part('hour', started_at) BETWEEN 6 AND 9
GROUP BY 1, 2
ORDER BY 1, 2;

-- [bigquery] Daily riders per operator in May
SELECT l.operator, t.trip_date, COUNT(DISTINCT t.card_id) AS riders
FROM `mobility.trips` AS t
JOIN `mobility.lines` AS l ON l.line = t.line
WHERE EXTRACT(MONTH FROM t.trip_date) = 5
GROUP BY operator, trip_date
ORDER BY trip_date, riders DESC

-- [tsql] Five stops with the largest mean delay
SELECT TOP (5) from_stop AS Stop, AVG(CAST(delay_s AS FLOAT)) AS MeanDelay, COUNT(*) AS Trips
FROM mobility.trips
WHERE delay_s IS NOT NULL
GROUP BY from_stop
ORDER BY MeanDelay DESC;

-- [spark] Percentiles of the fare by ticket
SELECT ticket_type, percentile(fare, 0.5) AS p50, percentile(fare, 0.9) AS p90
FROM trips
GROUP BY ticket_type

-- What inner and outer districts pay, by month name
SELECT monthname(t.trip_date) AS m, s.district, SUM(t.fare) AS revenue, AVG(t.fare) AS fare
FROM trips AS t, stops AS s
WHERE s.stop_code = t.from_stop AND t.fare > 0
GROUP BY m, s.district
ORDER BY m, revenue DESC;

-- Fare bands in whole euros
SELECT CAST(floor(fare) AS INTEGER) AS euro, COUNT(*) AS n FROM trips WHERE fare IS NOT NULL GROUP BY 1 ORDER BY 1;

-- Lines opened before 2000 against later ones
SELECT CASE WHEN year(opened) < 2000 THEN 'old' ELSE 'new' END AS age, COUNT(*) AS trips, SUM(fare * 0.9) AS net_revenue
FROM trips JOIN lines USING (line)
GROUP BY CASE WHEN year(opened) < 2000 THEN 'old' ELSE 'new' END;
