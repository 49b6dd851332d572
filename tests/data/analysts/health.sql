-- How many admissions are in the registry?
SELECT COUNT(*) FROM admissions;

-- How many different patients have we seen?
SELECT COUNT(DISTINCT patient_id) AS patients FROM registry.admissions;

-- Admissions per ward, biggest first
SELECT ward, COUNT(*) AS n
FROM admissions
GROUP BY ward
ORDER BY n DESC;

-- Same, with the spelling of wards cleaned up
select lower(trim(ward)) as ward, count(*) as n
from admissions
group by lower(trim(ward))
order by 2 desc, 1;

-- Patients per hospital with the hospital's name
SELECT h.hospital_name, COUNT(DISTINCT a.patient_id) AS patients
FROM admissions a
JOIN hospitals h ON a.hospital_id = h.hospital_id
GROUP BY h.hospital_name
ORDER BY patients DESC;

-- Average length of stay by sex
SELECT sex, AVG(los_days) AS avg_los FROM admissions GROUP BY sex;

-- Average length of stay to one decimal, and how many stays it rests on
SELECT sex, ROUND(AVG(los_days), 1) AS avg_los, COUNT(los_days) AS n_known
FROM admissions
WHERE sex IS NOT NULL
GROUP BY 1
ORDER BY 1;

-- Share of emergencies among all admissions
SELECT
	100.0 * SUM(CASE WHEN EMERGENCY THEN 1 ELSE 0 END)
	/ COUNT ( * )   AS Pct_Emergency
FROM	ADMISSIONS
;

-- Share of emergencies by year
SELECT year(admitted_at) AS yr,
       ROUND(100.0 * COUNT(*) FILTER (WHERE emergency) / COUNT(*), 2) AS pct_emergency
FROM admissions
GROUP BY yr
ORDER BY yr;

-- Monthly admissions
SELECT date_trunc('month', admitted_at) AS month, COUNT(*) AS admissions
FROM admissions
GROUP BY 1
ORDER BY 1;

-- Monthly admissions of children, 2024 only
SELECT date_trunc('month', visit_date) AS month, COUNT(*)
FROM admissions
WHERE age < 18
  AND visit_date >= DATE '2024-01-01' AND visit_date < DATE '2025-01-01'
GROUP BY date_trunc('month', visit_date)
ORDER BY month;

-- Weekday pattern: are Mondays worse?
SELECT dayofweek(admitted_at) AS dow, COUNT(*) AS n FROM admissions GROUP BY dow ORDER BY dow;

-- Hour of arrival in the emergency department
SELECT extract(hour FROM admitted_at) AS hr, count(*) AS arrivals
FROM registry.admissions
WHERE emergency
GROUP BY 1
ORDER BY 1;

-- Age bands by sex
SELECT CASE WHEN age < 18 THEN '0-17'
            WHEN age BETWEEN 18 AND 39 THEN '18-39'
            WHEN age BETWEEN 40 AND 64 THEN '40-64'
            WHEN age >= 65 THEN '65+'
            ELSE 'unknown' END AS age_band,
       sex,
       COUNT(DISTINCT patient_id) AS patients
FROM admissions
GROUP BY age_band, sex
ORDER BY age_band, sex;

-- Admissions by decade of age
SELECT floor(age / 10) * 10 AS decade, COUNT(*) AS n
FROM admissions
WHERE age IS NOT NULL
GROUP BY floor(age / 10) * 10
ORDER BY decade;

-- Total cost by insurance, single cases capped at 10 000
SELECT insurance, SUM(LEAST(cost, 10000)) AS capped_cost, SUM(cost) AS total_cost
FROM admissions
GROUP BY insurance
ORDER BY total_cost DESC;

-- Cost per case and cost per day by ward
SELECT ward,
       AVG(cost)                                   AS cost_per_case,
       SUM(cost) / NULLIF(SUM(los_days), 0)        AS cost_per_day
FROM admissions
GROUP BY ward;

-- Wards with at least 100 admissions
SELECT ward, COUNT(*) AS n FROM admissions GROUP BY ward HAVING COUNT(*) >= 100 ORDER BY n DESC;

-- The five most frequent diagnoses
SELECT diagnosis, COUNT(*) AS cases
FROM admissions
WHERE diagnosis IS NOT NULL
GROUP BY diagnosis
ORDER BY cases DESC
LIMIT 5;

-- Cases by first letter of the code (chapter, roughly)
SELECT left(diagnosis, 1) AS letter, count(*) n
FROM admissions
GROUP BY 1
ORDER BY n DESC NULLS LAST;

-- Cases by three-character category, second page of ten
SELECT substr(diagnosis, 1, 3) AS category, COUNT(*) AS cases
FROM admissions
GROUP BY substr(diagnosis, 1, 3)
ORDER BY cases DESC, category
LIMIT 10 OFFSET 3;

-- Cases by chapter from the public list of diagnoses
SELECT d.chapter, COUNT(*) AS cases, COUNT(DISTINCT a.patient_id) AS patients
FROM admissions AS a
LEFT JOIN diagnoses AS d ON d.code = a.diagnosis
GROUP BY d.chapter
ORDER BY cases DESC;

-- Chronic versus acute, old style of joining
SELECT d.chronic, COUNT(*), AVG(a.age)
FROM admissions a, diagnoses d
WHERE a.diagnosis = d.code
GROUP BY d.chronic;

-- Beds against admissions, per region
SELECT region, COUNT(*) AS admissions, AVG(los_days) AS mean_los
FROM admissions JOIN hospitals USING (hospital_id)
GROUP BY region
ORDER BY region;

-- Teaching hospitals only: admissions per ward group
SELECT g.ward_group, h.teaching, COUNT(*) AS n
FROM registry.admissions a
  INNER JOIN registry.hospitals h USING (hospital_id)
  INNER JOIN registry.ward_groups g ON g.ward = a.ward
WHERE h.teaching = TRUE
GROUP BY g.ward_group, h.teaching;

-- Mean, spread and number of BMI values by smoker status
SELECT smoker, COUNT(bmi) AS n, AVG(bmi) AS mean, STDDEV(bmi) AS sd
FROM admissions
GROUP BY smoker
ORDER BY smoker NULLS LAST;

-- Median cost by ward
SELECT ward, MEDIAN(cost) AS median_cost FROM admissions GROUP BY ward ORDER BY median_cost DESC;

-- Quartiles of length of stay
SELECT quantile_cont(los_days, 0.25) AS q1,
       quantile_cont(los_days, 0.5)  AS q2,
       quantile_cont(los_days, 0.75) AS q3
FROM admissions
WHERE los_days IS NOT NULL;

-- 90th percentile of cost per hospital, Postgres way
SELECT hospital_id, percentile_cont(0.9) WITHIN GROUP (ORDER BY cost) AS p90
FROM admissions
GROUP BY hospital_id
ORDER BY hospital_id;

-- Longest and shortest stay
SELECT MIN(los_days) AS shortest, MAX(los_days) AS longest FROM admissions;

-- First and last admission date in the registry
SELECT min(visit_date), max(visit_date) FROM admissions;

-- How complete is the triage level?
SELECT COUNT(*) AS total, COUNT("triageLevel") AS known,
       COUNT(*) - COUNT("triageLevel") AS missing
FROM admissions;

-- Triage levels in the large hospitals
SELECT "triageLevel", COUNT(*) AS n
FROM admissions
WHERE hospital_id IN (SELECT hospital_id FROM hospitals WHERE beds > 300)
  AND "triageLevel" IS NOT NULL
GROUP BY "triageLevel"
ORDER BY "triageLevel";

-- Triage 1 and 2 count as urgent
SELECT hospital_id,
       SUM(CASE WHEN "triageLevel" IN (1, 2) THEN 1 ELSE 0 END) AS urgent,
       SUM(CASE WHEN "triageLevel" > 2 THEN 1 ELSE 0 END) AS not_urgent
FROM admissions
GROUP BY hospital_id;

-- Mortality per 1000 admissions by ward
SELECT ward, 1000.0 * SUM(died::INT) / COUNT(*) AS deaths_per_1000
FROM admissions
GROUP BY ward
ORDER BY deaths_per_1000 DESC;

-- Mortality with protection against empty groups
SELECT hospital_id, COALESCE(SUM(CAST(died AS INTEGER)), 0) * 1.0 / NULLIF(COUNT(*), 0) AS rate
FROM admissions
WHERE age >= 65
GROUP BY hospital_id
ORDER BY rate DESC NULLS LAST;

-- Heart patients: all I codes, by year and half-year
SELECT year(visit_date) AS y,
       CASE WHEN month(visit_date) <= 6 THEN 1 ELSE 2 END AS half,
       COUNT(*) AS n
FROM admissions
WHERE diagnosis LIKE 'I%'
GROUP BY 1, 2
ORDER BY 1, 2;

-- Anything cardiac by ward name in any capitals
SELECT COUNT(*) FROM admissions WHERE ward ILIKE 'cardio%';

-- Readmission load: admissions per patient
SELECT COUNT(*) * 1.0 / COUNT(DISTINCT patient_id) AS admissions_per_patient
FROM admissions;

-- How many patients came once, twice, three times?
SELECT visits, COUNT(*) AS patients
FROM (
    SELECT patient_id, COUNT(*) AS visits
    FROM admissions
    GROUP BY patient_id
) per_patient
GROUP BY visits
ORDER BY visits;

-- Frequent flyers: patients with six or more stays
SELECT COUNT(*) AS frequent
FROM (SELECT patient_id FROM admissions GROUP BY patient_id HAVING COUNT(*) >= 6) t;

-- Patients with a second stay within 30 days of discharge (self-join)
SELECT COUNT(DISTINCT a.patient_id) AS readmitted
FROM admissions a
JOIN admissions b
  ON a.patient_id = b.patient_id
 AND b.admitted_at > a.discharged_at
 AND b.admitted_at <= a.discharged_at + INTERVAL 30 DAY;

-- Elderly admissions, filtered first in a WITH
WITH elderly AS (
    SELECT patient_id, hospital_id, los_days, cost
    FROM admissions
    WHERE age >= 75
)
SELECT hospital_id, COUNT(*) AS n, AVG(los_days) AS los, SUM(cost) AS cost
FROM elderly
GROUP BY hospital_id
ORDER BY hospital_id;

-- Two steps: clean, then band, then count
WITH clean AS (
    SELECT *, upper(trim(ward)) AS ward_clean FROM registry.admissions WHERE sex IN ('F', 'M')
), banded AS (
    SELECT ward_clean, sex, CASE WHEN bmi >= 30 THEN 'obese' WHEN bmi >= 25 THEN 'overweight' ELSE 'other' END AS bmi_class
    FROM clean
    WHERE bmi IS NOT NULL
)
SELECT bmi_class, sex, COUNT(*) AS n FROM banded GROUP BY ALL ORDER BY ALL;

-- Subtotals by hospital and sex
SELECT hospital_id, sex, COUNT(*) AS n
FROM admissions
GROUP BY ROLLUP (hospital_id, sex)
ORDER BY hospital_id NULLS LAST, sex NULLS LAST;

-- Margins of insurance and emergency in one go
SELECT insurance, emergency, COUNT(*) AS n, AVG(cost) AS avg_cost
FROM admissions
GROUP BY GROUPING SETS ((insurance), (emergency), ());

-- Each ward's share of all admissions
SELECT ward, COUNT(*) AS n, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS pct
FROM admissions
GROUP BY ward
ORDER BY pct DESC;

-- Running total of admissions by month
SELECT month, n, SUM(n) OVER (ORDER BY month) AS running
FROM (SELECT date_trunc('month', admitted_at) AS month, COUNT(*) AS n FROM admissions GROUP BY 1) m
ORDER BY month;

-- Average days between stays of a patient
SELECT AVG(gap) AS mean_gap_days
FROM (
    SELECT date_diff('day', lag(admitted_at) OVER (PARTITION BY patient_id ORDER BY admitted_at), admitted_at) AS gap
    FROM admissions
) g;

-- Admissions of the last year
SELECT COUNT(*) FROM admissions WHERE visit_date >= current_date - INTERVAL '1 year';

-- Which insurances occur at all
SELECT DISTINCT insurance FROM admissions ORDER BY insurance;

-- Blood pressure: share above 140 among those measured
SELECT AVG(CASE WHEN systolic_bp > 140 THEN 1.0 ELSE 0.0 END) AS share_hypertensive,
       COUNT(systolic_bp) AS measured
FROM admissions
WHERE systolic_bp IS NOT NULL;

-- Variance of blood pressure by sex, sample and population
SELECT sex, VAR_SAMP(systolic_bp) AS v_samp, VAR_POP(systolic_bp) AS v_pop, STDDEV_POP(systolic_bp) AS sd_pop
FROM admissions
GROUP BY sex;

-- Mean duration of a stay in hours from the time stamps
SELECT ROUND(AVG(EXTRACT(EPOCH FROM (discharged_at - admitted_at)) / 3600), 1) AS mean_hours
FROM admissions
WHERE discharged_at IS NOT NULL;

-- [spark] Admissions and unique patients per quarter
SELECT year(visit_date) AS y, quarter(visit_date) AS q, count(1) AS admissions, count(DISTINCT patient_id) AS patients
FROM admissions
GROUP BY year(visit_date), quarter(visit_date)
ORDER BY y, q

-- [tsql] The three dearest wards on average
SELECT TOP 3 ward, AVG(cost) AS avg_cost
FROM registry.admissions
GROUP BY ward
ORDER BY AVG(cost) DESC;

-- [bigquery] Emergencies by postcode area
SELECT SUBSTR(postcode, 1, 1) AS area, COUNTIF(emergency) AS emergencies, COUNT(*) AS n,
       SAFE_DIVIDE(COUNTIF(emergency), COUNT(*)) AS share
FROM `registry.admissions`
GROUP BY area
ORDER BY share DESC

-- Psychiatry and paediatrics side by side with everything
SELECT 'psychiatry' AS grp, COUNT(*) AS n FROM admissions WHERE ward = 'Psychiatry'
UNION ALL
SELECT 'paediatrics', COUNT(*) FROM admissions WHERE ward = 'Paediatrics'
UNION ALL
SELECT 'all', COUNT(*) FROM admissions;

-- Consent: who said no, who did not say
SELECT COALESCE(CAST(consent AS VARCHAR), 'not asked') AS consent, COUNT(DISTINCT patient_id) AS patients
FROM admissions
GROUP BY COALESCE(CAST(consent AS VARCHAR), 'not asked');

-- Summer 2023 in the east: everything on one line
SELECT COUNT(*) AS n, COUNT(DISTINCT patient_id) AS patients, SUM(cost) AS cost, AVG(age) AS age, AVG(los_days) AS los
FROM admissions a JOIN hospitals h ON h.hospital_id = a.hospital_id
WHERE h.region = 'East' /* incl. St. Anna */ AND a.admitted_at BETWEEN TIMESTAMP '2023-06-01' AND TIMESTAMP '2023-08-31 23:59:59';
