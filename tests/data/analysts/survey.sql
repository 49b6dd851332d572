-- Number of interviews
SELECT COUNT(*) AS n FROM responses;

-- Are respondents unique?
SELECT COUNT(*) AS interviews, COUNT(DISTINCT respondent_id) AS respondents FROM panel2024.responses;

-- Interviews per mode and the most frequent party there
SELECT mode, COUNT(*) AS n, mode(party) AS usual_party FROM responses GROUP BY mode ORDER BY n DESC;

-- Weighted number of interviews per mode
SELECT mode, SUM(weight) AS weighted_n, COUNT(*) AS n FROM responses GROUP BY mode;

-- Respondents per region
SELECT r.region_name, COUNT(*) AS n
FROM responses s JOIN regions r ON r.region_code = s.region_code
GROUP BY r.region_name
ORDER BY r.region_name;

-- Respondents per 100 000 inhabitants
SELECT region_name, COUNT(*) * 100000.0 / MAX(population) AS per_100k
FROM responses JOIN regions USING (region_code)
GROUP BY region_name
ORDER BY per_100k DESC;

-- Urban or rural
SELECT urban, COUNT(*) AS n, AVG(age) AS mean_age, AVG(income) AS mean_income
FROM responses, regions
WHERE responses.region_code = regions.region_code
GROUP BY urban;

-- Gender, spelled alike
SELECT lower(gender) AS gender, COUNT(*) AS n FROM responses GROUP BY lower(gender) ORDER BY n DESC NULLS LAST;

-- Age groups by gender
SELECT CASE WHEN age < 30 THEN '16-29' WHEN age < 45 THEN '30-44' WHEN age < 60 THEN '45-59' WHEN age < 75 THEN '60-74' ELSE '75+' END AS age_group,
       lower(gender) AS sex,
       COUNT(*) AS n
FROM responses
WHERE age IS NOT NULL AND gender IS NOT NULL
GROUP BY 1, 2
ORDER BY 1, 2;

-- Age pyramid by five years
SELECT 5 * floor(age / 5) AS age_from, COUNT(*) FILTER (WHERE gender = 'female') AS women, COUNT(*) FILTER (WHERE gender = 'male') AS men
FROM responses
WHERE age IS NOT NULL
GROUP BY 5 * floor(age / 5)
ORDER BY age_from;

-- Mean age
SELECT AVG(age) FROM responses;

-- Weighted mean age
SELECT SUM(age * weight) / SUM(CASE WHEN age IS NOT NULL THEN weight END) AS weighted_mean_age FROM responses;

-- Weighted mean income by region type
SELECT r.urban, SUM(s.income * s.weight) / NULLIF(SUM(s.weight) FILTER (WHERE s.income IS NOT NULL), 0) AS mean_income
FROM panel2024.responses AS s
LEFT JOIN panel2024.regions AS r ON s.region_code = r.region_code
GROUP BY r.urban;

-- Median income by education
SELECT education, MEDIAN(income) AS median_income, COUNT(income) AS n
FROM responses
GROUP BY education
ORDER BY median_income DESC;

-- Income deciles, lowest and highest
SELECT quantile_cont(income, 0.1) AS d1, quantile_cont(income, 0.9) AS d9 FROM responses;

-- Income quartiles for the self-employed, standard SQL
SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY income) AS q1, PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY income) AS q3
FROM responses
WHERE employment = 'self-employed';

-- Income bands in thousands
SELECT (income / 1000)::int * 1000 AS band, COUNT(*) AS n
FROM responses
WHERE income IS NOT NULL
GROUP BY band
ORDER BY band;

-- Item nonresponse of the income question
SELECT mode, ROUND(100.0 * (COUNT(*) - COUNT(income)) / COUNT(*), 1) AS pct_missing
FROM responses
GROUP BY mode
ORDER BY pct_missing;

-- Nonresponse of several questions at once
SELECT SUM(CASE WHEN income IS NULL THEN 1 ELSE 0 END) AS income_missing,
       SUM(CASE WHEN rent IS NULL THEN 1 ELSE 0 END) AS rent_missing,
       SUM(CASE WHEN trust_gov IS NULL THEN 1 ELSE 0 END) AS trust_missing,
       COUNT(*) AS n
FROM responses;

-- Rent burden: rent as a share of income
SELECT AVG(rent / income) AS mean_burden FROM responses WHERE income > 0 AND rent IS NOT NULL;

-- Rent burden of totals per region
SELECT region_code, SUM(rent) / SUM(income) AS burden
FROM responses
WHERE income > 0 AND rent IS NOT NULL
GROUP BY region_code
ORDER BY burden DESC;

-- How many spend more than 40 per cent on rent?
SELECT COUNT(*) AS overburdened FROM responses WHERE rent > 0.4 * income;

-- Income per head of the household
SELECT AVG(income / household_size) AS per_head, STDDEV(income / household_size) AS sd FROM responses WHERE income IS NOT NULL;

-- Household sizes
SELECT household_size, COUNT(*) AS households FROM responses GROUP BY household_size ORDER BY household_size;

-- Large households and small ones
SELECT CASE WHEN household_size >= 5 THEN '5+' ELSE CAST(household_size AS VARCHAR) END AS size, COUNT(*) AS n
FROM responses
GROUP BY CASE WHEN household_size >= 5 THEN '5+' ELSE CAST(household_size AS VARCHAR) END
ORDER BY 1;

-- Children per respondent by education
SELECT education, SUM(children) AS children, AVG(children) AS mean_children
FROM responses
WHERE education IS NOT NULL
GROUP BY education;

-- Parents and childless by employment
SELECT employment, COALESCE(children, 0) > 0 AS parent, COUNT(*) AS n
FROM responses
GROUP BY employment, COALESCE(children, 0) > 0
ORDER BY employment, parent;

-- Satisfaction: distribution
SELECT satisfaction, COUNT(*) AS n FROM responses GROUP BY satisfaction ORDER BY satisfaction NULLS LAST;

-- Satisfaction: top-two boxes by mode
SELECT mode, AVG(CASE WHEN satisfaction >= 4 THEN 1.0 WHEN satisfaction < 4 THEN 0.0 END) AS top2
FROM responses
GROUP BY mode
ORDER BY top2 DESC;

-- Net satisfaction
SELECT 100.0 * (COUNT(*) FILTER (WHERE satisfaction >= 4) - COUNT(*) FILTER (WHERE satisfaction <= 2)) / COUNT(satisfaction) AS net
FROM responses;

-- Satisfaction by years of schooling
SELECT e.years, AVG(s.satisfaction) AS mean, COUNT(s.satisfaction) AS n
FROM responses s JOIN education_levels e USING (education)
GROUP BY e.years
ORDER BY e.years;

-- Trust in government and press, and the better of the two
SELECT AVG(trust_gov) AS gov, AVG(trust_press) AS press, AVG(GREATEST(trust_gov, trust_press)) AS better, AVG(trust_gov - trust_press) AS difference
FROM responses
WHERE trust_gov IS NOT NULL AND trust_press IS NOT NULL;

-- Trust by party, refusals as a group of their own
SELECT COALESCE(party, 'no answer') AS party, AVG(trust_gov) AS trust, COUNT(*) AS n
FROM responses
GROUP BY COALESCE(party, 'no answer')
ORDER BY trust DESC;

-- Correlation of the two kinds of trust
SELECT corr(trust_gov, trust_press) AS r FROM responses;

-- Low, middle and high trust by gender
SELECT gender,
       SUM(CASE WHEN trust_gov BETWEEN 0 AND 3 THEN 1 ELSE 0 END) AS low,
       SUM(CASE WHEN trust_gov BETWEEN 4 AND 6 THEN 1 ELSE 0 END) AS middle,
       SUM(CASE WHEN trust_gov BETWEEN 7 AND 10 THEN 1 ELSE 0 END) AS high
FROM responses
WHERE gender IN ('female', 'male')
GROUP BY gender;

-- Turnout as stated
SELECT ROUND(100.0 * SUM(voted::int) / COUNT(voted), 1) AS turnout FROM responses;

-- Turnout by age, under and over forty
SELECT age >= 40 AS forty_plus, AVG(voted::INT) AS turnout, COUNT(voted) AS n
FROM responses
WHERE age IS NOT NULL
GROUP BY age >= 40;

-- Party shares among those who named one
SELECT party, COUNT(*) AS n, ROUND(COUNT(*) * 100.0 / SUM(COUNT(*)) OVER (), 1) AS pct
FROM responses
WHERE party IS NOT NULL
GROUP BY party
ORDER BY pct DESC;

-- Voters of Red or Green in the regions with towns
SELECT COUNT(*) AS n
FROM responses
WHERE party IN ('Red', 'Green') AND voted IS TRUE
  AND region_code IN (SELECT region_code FROM regions WHERE urban AND population > 100000);

-- Question 7 by gender: mean and standard deviation
SELECT gender, AVG("Q7") AS "Q7", STDDEV_SAMP("Q7") AS "sd of Q7" FROM responses GROUP BY gender ORDER BY gender;

-- Question 8: both items, either, none
SELECT "Q8_a", "Q8_b", COUNT(*) AS n
FROM responses
WHERE "Q8_a" IS NOT NULL AND "Q8_b" IS NOT NULL
GROUP BY "Q8_a", "Q8_b"
ORDER BY n DESC;

-- Question 8 multi-response table
SELECT 'a' AS item, SUM("Q8_a"::int) AS ticked, COUNT("Q8_a") AS asked FROM responses
UNION ALL
SELECT 'b', SUM("Q8_b"::int), COUNT("Q8_b") FROM responses;

-- Cross table of education and employment with margins
SELECT education, employment, COUNT(*) AS n
FROM responses
GROUP BY CUBE (education, employment)
ORDER BY education NULLS LAST, employment NULLS LAST;

-- Working hours of the employed
SELECT gender, ROUND(AVG(hours_worked), 1) AS hours, VAR_POP(hours_worked) AS var
FROM responses
WHERE employment LIKE '%employed' AND employment <> 'unemployed' AND hours_worked > 0
GROUP BY gender;

-- Hourly income, total over total
SELECT education, SUM(income) / NULLIF(SUM(hours_worked * 4.33), 0) AS per_hour
FROM responses
WHERE hours_worked IS NOT NULL AND income IS NOT NULL
GROUP BY education
HAVING COUNT(*) >= 30
ORDER BY per_hour DESC;

-- Unemployment rate by region
WITH active AS (
    SELECT region_code, employment FROM responses WHERE employment IN ('employed', 'self-employed', 'unemployed')
)
SELECT region_name, 100.0 * SUM(CASE WHEN employment = 'unemployed' THEN 1 ELSE 0 END) / COUNT(*) AS unemployment
FROM active INNER JOIN regions ON regions.region_code = active.region_code
GROUP BY region_name
ORDER BY unemployment DESC, region_name ASC;

-- Interviews per day of field work
SELECT interview_date, COUNT(*) AS n FROM responses GROUP BY interview_date ORDER BY interview_date;

-- Interviews per week and mode
SELECT date_trunc('week', submitted_at) AS week, mode, COUNT(*) AS n FROM responses GROUP BY week, mode ORDER BY week, mode;

-- Interviews per wave, by dates of the waves
SELECT w.wave, COUNT(*) AS n, AVG(s.satisfaction) AS satisfaction
FROM responses s
JOIN waves w ON s.interview_date BETWEEN w.first_day AND w.last_day
GROUP BY w.wave
ORDER BY w.wave;

-- Evening interviews
SELECT COUNT(*) AS evening FROM responses WHERE extract(hour from submitted_at) >= 18 AND submitted_at < TIMESTAMP '2024-10-01';

-- Length of the interview by language
SELECT upper(language) AS lang, AVG(minutes) AS mean_minutes, MEDIAN(minutes) AS median_minutes
FROM responses
GROUP BY upper(language);

-- Speeders: under a third of the median length
SELECT COUNT(*) AS speeders FROM responses WHERE minutes < (SELECT MEDIAN(minutes) / 3 FROM responses);

-- Youngest and oldest respondent per mode
SELECT mode, MIN(age) AS youngest, MAX(age) AS oldest FROM responses GROUP BY mode;

-- Richest respondent of each region
SELECT region_code, MAX(income) AS highest FROM responses GROUP BY region_code ORDER BY highest DESC LIMIT 3;

-- Panel members against fresh sample
SELECT panel, COUNT(*) AS n, AVG(weight) AS mean_weight, SUM(weight) * SUM(weight) / SUM(weight * weight) AS effective_n
FROM responses
GROUP BY panel;

-- Regions by mean satisfaction with their rank
SELECT region_code, AVG(satisfaction) AS mean, DENSE_RANK() OVER (ORDER BY AVG(satisfaction) DESC) AS place
FROM responses
GROUP BY region_code;

-- [spark] Mean trust by region and education
SELECT region_code, education, round(avg(trust_gov), 2) AS trust, count(trust_gov) AS n
FROM panel2024.responses
WHERE education IS NOT NULL
GROUP BY region_code, education
ORDER BY region_code, education

-- [bigquery] Share of panel members by region
SELECT region_code, ROUND(100 * SAFE_DIVIDE(COUNTIF(panel), COUNT(*)), 1) AS pct_panel, CAST(AVG(income) AS INT64) AS mean_income
FROM `panel2024.responses`
GROUP BY region_code
HAVING COUNT(*) > 50

-- [tsql] Two most frequent answers to question 7
SELECT TOP 2 [Q7], COUNT(*) AS n
FROM panel2024.responses
WHERE [Q7] IS NOT NULL
GROUP BY [Q7]
ORDER BY COUNT(*) DESC;

-- [postgres] Women and men by age band of ten years, whole numbers divided
SELECT (age - 15) / 10 AS band, count(*) FILTER (WHERE gender ILIKE 'f%') AS women, count(*) FILTER (WHERE gender ILIKE 'm%') AS men
FROM panel2024.responses
WHERE age IS NOT NULL
GROUP BY 1
ORDER BY 1;
