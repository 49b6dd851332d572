-- Events in all
SELECT COUNT(*) AS events FROM events;

-- Devices in all
SELECT COUNT(DISTINCT device_id) AS devices FROM telemetry.events;

-- Daily active devices
SELECT event_date, COUNT(DISTINCT device_id) AS dau
FROM events
GROUP BY event_date
ORDER BY event_date;

-- Weekly active devices
SELECT date_trunc('week', event_time) AS wk, COUNT(DISTINCT device_id) AS wau FROM events GROUP BY wk ORDER BY wk;

-- Monthly active devices per operating system
SELECT strftime(event_date, '%Y-%m') AS month, os, COUNT(DISTINCT device_id) AS mau
FROM events
GROUP BY 1, 2
ORDER BY 1, 2;

-- Sessions and events per session
SELECT COUNT(DISTINCT session_id) AS sessions, COUNT(*)::DOUBLE / COUNT(DISTINCT session_id) AS events_per_session
FROM events;

-- Event counts by name
SELECT event_name, COUNT(*) AS n FROM events GROUP BY event_name ORDER BY n DESC;

-- Event counts by group of events
SELECT t.event_group, COUNT(*) AS n, COUNT(DISTINCT e.device_id) AS devices
FROM events e
JOIN event_types t ON t.event_name = e.event_name
GROUP BY t.event_group
ORDER BY n DESC;

-- Billable events by month
SELECT date_trunc('month', e.event_time) AS month, COUNT(*) AS billable_events
FROM events e, event_types t
WHERE e.event_name = t.event_name AND t.billable
GROUP BY date_trunc('month', e.event_time)
ORDER BY month;

-- Crashes per thousand events by version
SELECT app_version, 1000.0 * SUM(CASE WHEN crashed THEN 1 ELSE 0 END) / COUNT(*) AS crash_rate
FROM events
GROUP BY app_version
ORDER BY crash_rate DESC;

-- Crash-free devices by version
SELECT app_version,
       COUNT(DISTINCT device_id) AS devices,
       COUNT(DISTINCT CASE WHEN crashed THEN device_id END) AS crashed_devices,
       1 - COUNT(DISTINCT CASE WHEN crashed THEN device_id END) * 1.0 / COUNT(DISTINCT device_id) AS crash_free
FROM events
GROUP BY app_version;

-- Crashes since release, stable versions only
SELECT r.app_version, r.released_on, COUNT(*) FILTER (WHERE e.crashed) AS crashes, COUNT(*) AS events
FROM telemetry.events e
JOIN telemetry.app_releases r USING (app_version)
WHERE r.release_channel = 'stable' AND e.event_date >= r.released_on
GROUP BY r.app_version, r.released_on
ORDER BY r.released_on;

-- Major version share
SELECT split_part(app_version, '.', 1) AS major, COUNT(DISTINCT device_id) AS devices
FROM events
GROUP BY split_part(app_version, '.', 1);

-- First two characters of the version
SELECT substr(app_version, 1, 3) AS minor, COUNT(*) AS n FROM events GROUP BY 1 ORDER BY 1;

-- Beta users
SELECT COUNT(DISTINCT device_id) FROM events WHERE app_version LIKE '%-beta';

-- Mean and 95th percentile of duration per event
SELECT event_name, AVG(duration_ms) AS mean_ms, quantile_cont(duration_ms, 0.95) AS p95_ms
FROM events
GROUP BY event_name
ORDER BY p95_ms DESC;

-- Median screen time per screen in seconds
SELECT "screenName", MEDIAN(duration_ms / 1000.0) AS median_s
FROM events
WHERE event_name = 'screen_view' AND "screenName" IS NOT NULL
GROUP BY "screenName"
ORDER BY median_s DESC;

-- Approximate median of upload size
SELECT approx_quantile(bytes_sent, 0.5) AS median_bytes FROM events;

-- Total screen time per screen, in hours
SELECT "screenName" AS screen, ROUND(SUM(duration_ms) / 3600000.0, 2) AS hours
FROM events
WHERE event_name = 'screen_view'
GROUP BY "screenName"
ORDER BY hours DESC NULLS LAST;

-- Views per screen and system, as one label
SELECT e."screenName" || ' / ' || e.os AS label, count(*) AS "Views"
FROM events AS e
WHERE e.event_name = 'screen_view' AND e."screenName" != 'health'
GROUP BY label
HAVING "Views" > 10
ORDER BY "Views" DESC;

-- Megabytes sent by network
SELECT network, SUM(bytes_sent) / 1048576.0 AS mb FROM events GROUP BY network ORDER BY mb DESC;

-- Megabytes by network in one spelling
SELECT lower(coalesce(network, 'unknown')) AS network, SUM(bytes_sent) / 1e6 AS mb, COUNT(*) AS events
FROM events
GROUP BY lower(coalesce(network, 'unknown'))
ORDER BY mb DESC;

-- Wifi against mobile
SELECT CASE WHEN network ILIKE 'wifi' THEN 'wifi'
            WHEN network IN ('4g', '5g') THEN 'mobile'
            ELSE 'other' END AS link,
       COUNT(*) AS events,
       AVG(bytes_sent) AS mean_bytes
FROM events
GROUP BY link;

-- Bytes per second of use
SELECT SUM(bytes_sent) / (SUM(duration_ms) / 1000.0) AS bytes_per_second FROM events WHERE duration_ms > 0;

-- Battery bands
SELECT floor(battery_pct / 20) * 20 AS battery_from, COUNT(*) AS n
FROM events
WHERE battery_pct IS NOT NULL
GROUP BY 1
ORDER BY 1;

-- Low battery share by system
SELECT os, ROUND(100.0 * COUNT(*) FILTER (WHERE battery_pct < 15) / NULLIF(COUNT(battery_pct), 0), 1) AS pct_low
FROM events
GROUP BY os;

-- CPU load: moments
SELECT COUNT(cpu_load) AS n, AVG(cpu_load) AS mean, VAR_SAMP(cpu_load) AS var, STDDEV_SAMP(cpu_load) AS sd FROM events;

-- CPU load by hour of day
SELECT extract('hour' FROM event_time) AS h, AVG(cpu_load) AS load FROM events GROUP BY h ORDER BY h;

-- Temperature by system in Fahrenheit
SELECT os, AVG(temp_c * 9 / 5 + 32) AS temp_f FROM events WHERE temp_c IS NOT NULL GROUP BY os;

-- Hottest reading per version, and on which system it was
SELECT app_version, MAX(temp_c) AS hottest, arg_max(os, temp_c) AS hottest_os FROM events GROUP BY app_version ORDER BY hottest DESC;

-- Time span of the data
SELECT MIN(event_time) AS first_seen, MAX(event_time) AS last_seen FROM events;

-- Revenue by country
SELECT country, SUM(revenue_usd) AS revenue, COUNT(revenue_usd) AS purchases
FROM events
GROUP BY country
ORDER BY revenue DESC;

-- Revenue per active device by continent
SELECT c.continent, COALESCE(SUM(e.revenue_usd), 0) / COUNT(DISTINCT e.device_id) AS arpu
FROM events e
LEFT JOIN countries c ON c.iso2 = e.country
GROUP BY c.continent
ORDER BY arpu DESC;

-- Paying devices
SELECT COUNT(DISTINCT device_id) FILTER (WHERE event_name = 'purchase') AS payers, COUNT(DISTINCT device_id) AS devices
FROM events;

-- Conversion from opening to purchase, by system
SELECT os,
       COUNT(DISTINCT CASE WHEN event_name = 'purchase' THEN device_id END) * 100.0
         / NULLIF(COUNT(DISTINCT CASE WHEN event_name = 'app_open' THEN device_id END), 0) AS conversion_pct
FROM events
GROUP BY os;

-- Average basket in euros at a fixed rate
SELECT AVG(revenue_usd * 0.92) AS avg_basket_eur FROM events WHERE event_name = 'purchase';

-- Big purchases by country name
SELECT country_name, COUNT(*) AS n
FROM events JOIN countries ON events.country = countries.iso2
WHERE revenue_usd >= 50
GROUP BY country_name
HAVING COUNT(*) > 5
ORDER BY n DESC, country_name;

-- Error share per event day of week
SELECT dayname(event_date) AS day, AVG(CASE WHEN event_name = 'error' THEN 1.0 ELSE 0 END) AS error_share
FROM events
GROUP BY day;

-- Retries per event
SELECT event_name, SUM(retries) AS retries, AVG(retries) AS per_event, SUM(CASE WHEN retries >= 3 THEN 1 ELSE 0 END) AS many
FROM events
GROUP BY event_name;

-- How late do events arrive?
SELECT AVG(date_diff('minute', event_time, received_at)) AS mean_minutes
FROM events
WHERE received_at IS NOT NULL;

-- Late arrivals: more than an hour
SELECT os, COUNT(*) AS late
FROM events
WHERE received_at > event_time + INTERVAL 1 HOUR
GROUP BY os;

-- Foreground share with unknown as background
SELECT SUM(CASE WHEN COALESCE(foreground, FALSE) THEN 1 ELSE 0 END)::float / COUNT(*) AS foreground_share FROM events;

-- Opted out devices
SELECT opt_in, COUNT(DISTINCT device_id) AS devices FROM events GROUP BY opt_in ORDER BY opt_in NULLS FIRST;

-- Night owls: events between midnight and five, by country
SELECT country, COUNT(*) AS night_events
FROM events
WHERE hour(event_time) < 5
GROUP BY country
ORDER BY night_events DESC
LIMIT 3;

-- April only, through a WITH that filters
WITH april AS (
    SELECT * FROM events WHERE event_date BETWEEN DATE '2024-04-01' AND DATE '2024-04-30'
)
SELECT os, app_version, COUNT(*) AS events, COUNT(DISTINCT device_id) AS devices
FROM april
GROUP BY os, app_version
ORDER BY os, devices DESC;

-- Errors in a subquery that projects
SELECT major, COUNT(*) AS errors
FROM (SELECT left(app_version, 1) AS major, network FROM events WHERE event_name = 'error') AS e
WHERE network IS NOT NULL
GROUP BY major;

-- Events per device: mean and spread
SELECT AVG(n) AS mean_events, STDDEV(n) AS sd_events
FROM (SELECT device_id, COUNT(*) AS n FROM events GROUP BY device_id) d;

-- Heavy devices by share of traffic
SELECT SUM(b) FILTER (WHERE b > 2000000) / SUM(b) AS share_of_heavy
FROM (SELECT device_id, SUM(bytes_sent) AS b FROM events GROUP BY device_id) d;

-- Day-one retention
WITH firsts AS (SELECT device_id, MIN(event_date) AS d0 FROM events GROUP BY device_id)
SELECT COUNT(DISTINCT e.device_id) * 1.0 / (SELECT COUNT(*) FROM firsts) AS retained
FROM firsts f JOIN events e ON e.device_id = f.device_id AND e.event_date = f.d0 + 1;

-- Mean gap between two events of a device
SELECT AVG(gap) FROM (
  SELECT epoch(event_time) - epoch(LAG(event_time) OVER (PARTITION BY device_id ORDER BY event_time)) AS gap FROM events
) g;

-- Share of each event among all events
SELECT event_name, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS share FROM events GROUP BY event_name ORDER BY share DESC;

-- Top version within each system
SELECT os, app_version, n FROM (
  SELECT os, app_version, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY os ORDER BY COUNT(*) DESC) AS rn
  FROM events GROUP BY os, app_version
) r
WHERE rn = 1;

-- Events by system, country and both
SELECT os, country, COUNT(*) AS n FROM events GROUP BY GROUPING SETS ((os, country), (os), (country));

-- Events of the last 24 hours
SELECT COUNT(*) FROM events WHERE event_time > now() - INTERVAL '24 hours';

-- All systems and all networks that occur, in one list
SELECT os AS what FROM events UNION SELECT network FROM events;

-- Pushes received and opened afterwards: totals side by side
SELECT SUM(CASE event_name WHEN 'push_received' THEN 1 ELSE 0 END) AS pushes,
       SUM(CASE event_name WHEN 'app_open' THEN 1 ELSE 0 END)      AS opens,
       SUM(CASE event_name WHEN 'app_open' THEN 1 ELSE 0 END) * 1.0
     / SUM(CASE event_name WHEN 'push_received' THEN 1 ELSE 0 END) AS opens_per_push
FROM   events
WHERE  os <> 'web'   -- no pushes there
  AND  event_date >= '2024-03-15'::date;

-- [bigquery] Unique devices per day in Germany and Austria
SELECT event_date, APPROX_COUNT_DISTINCT(device_id) AS devices, COUNTIF(crashed) AS crashes
FROM `telemetry.events`
WHERE country IN ('DE', 'AT')
GROUP BY 1
ORDER BY 1 DESC
LIMIT 30

-- [spark] Events and mean load per ten-day bucket of the month
SELECT month(event_date) AS m, CAST(floor((dayofmonth(event_date) - 1) / 10) AS INT) AS dekad, count(*) AS n, avg(cpu_load) AS load
FROM telemetry.events
GROUP BY month(event_date), CAST(floor((dayofmonth(event_date) - 1) / 10) AS INT)

-- [tsql] Most used screens
SELECT TOP 3 [screenName] AS Screen, COUNT(*) AS Views, COUNT(DISTINCT device_id) AS Devices
FROM telemetry.events
WHERE [screenName] IS NOT NULL
GROUP BY [screenName]
ORDER BY Views DESC;

-- [postgres] Hourly profile of errors in per cent of events
SELECT extract(hour from event_time)::int AS hr,
       round(100.0 * count(*) FILTER (WHERE event_name = 'error') / count(*), 2) AS error_pct
FROM telemetry.events
GROUP BY 1
ORDER BY 1;
