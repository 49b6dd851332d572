-- Number of order lines
SELECT COUNT(*) FROM purchases;

-- Orders, customers and lines in one row
SELECT COUNT(DISTINCT order_id) AS orders, COUNT(DISTINCT customer_id) AS customers, COUNT(*) AS lines
FROM shop.purchases;

-- Gross revenue
SELECT SUM(price * quantity) AS revenue FROM purchases;

-- Net revenue after discount
SELECT ROUND(SUM(price * quantity * (1 - COALESCE(discount, 0))), 2) AS net_revenue FROM purchases;

-- Revenue by channel
SELECT channel, SUM(quantity * price) AS revenue, COUNT(*) AS lines
FROM purchases
GROUP BY channel
ORDER BY revenue DESC;

-- Revenue by month
SELECT date_trunc('month', order_date) AS month, SUM(price * quantity) AS revenue
FROM purchases
GROUP BY date_trunc('month', order_date)
ORDER BY month;

-- Revenue by year and quarter
SELECT EXTRACT(YEAR FROM ordered_at) AS y, EXTRACT(QUARTER FROM ordered_at) AS q, SUM(price * quantity) AS revenue
FROM purchases
GROUP BY 1, 2
ORDER BY 1, 2;

-- Average order value
SELECT SUM(price * quantity) / COUNT(DISTINCT order_id) AS aov FROM purchases;

-- Average order value by country, via a subquery per order
SELECT country, AVG(order_value) AS aov, COUNT(*) AS orders
FROM (
    SELECT order_id, "Country Code" AS country, SUM(price * quantity) AS order_value
    FROM purchases
    GROUP BY order_id, "Country Code"
) o
GROUP BY country
ORDER BY aov DESC;

-- Lines by country
SELECT "Country Code", COUNT(*) AS n FROM purchases GROUP BY "Country Code" ORDER BY n DESC;

-- Customers by country in the European Union
SELECT p."Country Code" AS country, COUNT(DISTINCT p.customer_id) AS customers
FROM purchases p
JOIN tax_rates r ON r.country = p."Country Code"
WHERE r.eu
GROUP BY p."Country Code";

-- Value added tax owed
SELECT r.country, SUM(p.price * p.quantity * r.vat) AS vat_due
FROM purchases p INNER JOIN tax_rates r ON p."Country Code" = r.country
GROUP BY r.country
ORDER BY vat_due DESC;

-- Units sold per product of the two largest brands
SELECT p.sku, x.brand, SUM(p.quantity) AS units
FROM purchases p
JOIN (SELECT sku, brand FROM products WHERE brand IN ('Nord', 'Volt')) x ON x.sku = p.sku
GROUP BY p.sku, x.brand
ORDER BY units DESC, p.sku;

-- Units sold per product name and brand
SELECT product_name, brand, SUM(quantity) AS units
FROM purchases JOIN products USING (sku)
GROUP BY product_name, brand
ORDER BY 3 DESC;

-- Revenue and margin by category
SELECT pr.category,
       SUM(pu.price * pu.quantity)                                       AS revenue,
       SUM((pu.price - pr.unit_cost) * pu.quantity)                      AS margin,
       SUM((pu.price - pr.unit_cost) * pu.quantity) / NULLIF(SUM(pu.price * pu.quantity), 0) AS margin_rate
FROM shop.purchases AS pu
JOIN shop.products  AS pr ON pu.sku = pr.sku
GROUP BY pr.category
ORDER BY revenue DESC;

-- Revenue by the prefix of the article number
SELECT left(sku, 2) AS grp, SUM(price * quantity) AS revenue FROM purchases GROUP BY grp ORDER BY grp;

-- Top 5 products by revenue
SELECT sku, SUM(price * quantity) revenue
FROM purchases
GROUP BY sku
ORDER BY SUM(price * quantity) DESC
LIMIT 5;

-- Categories that sold more than 1000 units
SELECT category, SUM(quantity) AS units
FROM purchases, products
WHERE purchases.sku = products.sku
GROUP BY category
HAVING SUM(quantity) > 1000;

-- Shipped weight per category in kilograms
SELECT category, SUM(quantity * weight_kg) AS kg
FROM purchases p
LEFT JOIN products x ON x.sku = p.sku
WHERE channel <> 'store'
GROUP BY category;

-- Store revenue per square metre
SELECT s.city, SUM(p.price * p.quantity) / MAX(s.sqm) AS revenue_per_sqm
FROM purchases p
JOIN stores s ON s.store_id = p.store_id
GROUP BY s.city
ORDER BY revenue_per_sqm DESC;

-- Customers per store, online sales included as no store
SELECT COALESCE(s.city, 'online') AS city, COUNT(DISTINCT p.customer_id) AS customers
FROM purchases p
LEFT JOIN stores s USING (store_id)
GROUP BY COALESCE(s.city, 'online');

-- Return rate
SELECT 100.0 * SUM(CASE WHEN returned THEN 1 ELSE 0 END) / COUNT(returned) AS return_pct FROM purchases;

-- Return rate by category, worst first
SELECT category, ROUND(AVG(returned::int) * 100, 2) AS return_pct, COUNT(returned) AS n
FROM purchases INNER JOIN products USING (sku)
GROUP BY category
ORDER BY return_pct DESC NULLS LAST;

-- Value of returned goods by channel
SELECT channel,
       SUM(price * quantity) FILTER (WHERE returned)     AS returned_value,
       SUM(price * quantity) FILTER (WHERE NOT returned) AS kept_value
FROM purchases
GROUP BY channel;

-- Average discount where there was one
SELECT AVG(discount) AS avg_discount FROM purchases WHERE discount > 0;

-- Discounted or not: lines and units
SELECT CASE WHEN COALESCE(discount, 0) > 0 THEN 'discounted' ELSE 'full price' END AS kind,
       COUNT(*) AS lines, SUM(quantity) AS units, AVG(quantity) AS units_per_line
FROM purchases
GROUP BY kind;

-- Which coupons does each channel see, in one cell?
SELECT channel, string_agg(DISTINCT coupon, ', ') AS coupons, COUNT(coupon) AS uses FROM purchases GROUP BY channel;

-- Coupon use without regard to capitals
SELECT upper(coupon) AS coupon, COUNT(*) AS uses, COUNT(DISTINCT customer_id) AS customers
FROM purchases
WHERE coupon IS NOT NULL
GROUP BY upper(coupon);

-- Share of lines with a coupon per loyalty tier
SELECT "loyaltyTier", COUNT(coupon) * 1.0 / COUNT(*) AS coupon_share
FROM purchases
GROUP BY "loyaltyTier";

-- Loyalty: revenue per customer in each tier, guests as none
select coalesce("loyaltyTier", 'none') as tier
     , count(distinct customer_id) as customers
     , sum(price * quantity) / count(distinct customer_id) as revenue_per_customer
from purchases
group by 1
order by 3 desc
;

-- Gold customers by channel, for products that have a brand
SELECT channel, COUNT(DISTINCT customer_id) AS gold_customers
FROM purchases p
WHERE "loyaltyTier" = 'gold'
  AND EXISTS (SELECT 1 FROM products x WHERE x.sku = p.sku AND x.brand IS NOT NULL)
GROUP BY channel;

-- Payment methods, trimmed and in small letters
SELECT lower(trim(payment)) AS method, COUNT(DISTINCT order_id) AS orders
FROM purchases
GROUP BY lower(trim(payment))
ORDER BY orders DESC;

-- Shipping income
SELECT SUM(shipping_fee) AS fees, COUNT(shipping_fee) AS paid_lines, COUNT(*) AS lines FROM purchases;

-- Shipping fee per country: mean and spread
SELECT "Country Code" AS cc, AVG(shipping_fee) AS mean_fee, STDDEV(shipping_fee) AS sd_fee, VARIANCE(shipping_fee) AS var_fee
FROM purchases
GROUP BY cc
ORDER BY cc;

-- Median price by category
SELECT category, MEDIAN(price) AS median_price
FROM purchases JOIN products ON products.sku = purchases.sku
GROUP BY category;

-- Price quartiles of electronics
SELECT quantile_cont(price, [0.25, 0.5, 0.75]) AS quartiles FROM purchases WHERE sku LIKE 'EL-%';

-- Cheapest and dearest price of each product
SELECT sku, MIN(price) AS cheapest, MAX(price) AS dearest FROM purchases GROUP BY sku ORDER BY sku;

-- Ratings: number, mean, share of fives
SELECT COUNT(rating) AS n, AVG(rating) AS mean, AVG(CASE WHEN rating = 5 THEN 1 WHEN rating IS NOT NULL THEN 0 END) AS share_of_fives
FROM purchases;

-- Distribution of the stars
SELECT rating AS stars, COUNT(*) AS n FROM purchases WHERE rating IS NOT NULL GROUP BY rating ORDER BY rating DESC;

-- Products with a mean rating under three
SELECT p.product_name, AVG(u.rating) AS rating, COUNT(u.rating) AS votes
FROM purchases u JOIN products p ON p.sku = u.sku
WHERE u.rating IS NOT NULL
GROUP BY p.product_name
HAVING AVG(u.rating) < 3
ORDER BY rating;

-- Basket size: how many lines has an order?
WITH baskets AS (SELECT order_id, COUNT(*) AS lines FROM purchases GROUP BY order_id)
SELECT lines, COUNT(*) AS orders FROM baskets GROUP BY lines ORDER BY lines;

-- Returning customers: more than one order
SELECT COUNT(*) AS customers, SUM(CASE WHEN orders > 1 THEN 1 ELSE 0 END) AS repeat_customers
FROM (SELECT customer_id, COUNT(DISTINCT order_id) AS orders FROM purchases GROUP BY customer_id) c;

-- Customers who bought both books and tea
SELECT COUNT(DISTINCT a.customer_id) AS both
FROM purchases a JOIN purchases b ON a.customer_id = b.customer_id
WHERE a.sku LIKE 'BK-%' AND b.sku = 'GR-777';

-- New customers by month of their first order
SELECT date_trunc('month', first_order) AS cohort, COUNT(*) AS new_customers
FROM (SELECT customer_id, MIN(order_date) AS first_order FROM purchases GROUP BY customer_id) f
GROUP BY cohort
ORDER BY cohort;

-- Recency: the last order of each customer, latest line only, by channel
SELECT channel, COUNT(*) AS customers
FROM (
  SELECT customer_id, channel, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY ordered_at DESC, line_no) AS rn
  FROM purchases
) latest
WHERE rn = 1
GROUP BY channel;

-- Christmas business: November and December of both years
SELECT year(order_date) AS yr, SUM(price * quantity) AS revenue, COUNT(DISTINCT order_id) AS orders
FROM purchases
WHERE month(order_date) IN (11, 12)
GROUP BY year(order_date);

-- 2024 against 2023, in two columns
SELECT channel,
       SUM(CASE WHEN order_date BETWEEN DATE '2023-01-01' AND DATE '2023-12-31' THEN price * quantity ELSE 0 END) AS y2023,
       SUM(CASE WHEN order_date BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN price * quantity ELSE 0 END) AS y2024
FROM purchases
GROUP BY channel;

-- Growth from the first to the second year in per cent
SELECT 100.0 * (SUM(CASE WHEN year(order_date) = 2024 THEN price * quantity END)
              - SUM(CASE WHEN year(order_date) = 2023 THEN price * quantity END))
             / SUM(CASE WHEN year(order_date) = 2023 THEN price * quantity END) AS growth_pct
FROM purchases;

-- Each category's share of revenue
SELECT category, SUM(price * quantity) AS revenue,
       SUM(price * quantity) / SUM(SUM(price * quantity)) OVER () AS share
FROM purchases JOIN products USING (sku)
GROUP BY category
ORDER BY share DESC;

-- Three-month moving average of revenue
SELECT month, AVG(revenue) OVER (ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving_avg
FROM (SELECT date_trunc('month', order_date) AS month, SUM(price * quantity) AS revenue FROM purchases GROUP BY 1) m
ORDER BY month;

-- Revenue by country and channel with subtotals
SELECT "Country Code", channel, SUM(price * quantity) AS revenue
FROM purchases
GROUP BY ROLLUP ("Country Code", channel)
ORDER BY 1 NULLS LAST, 2 NULLS LAST;

-- Orders on weekends
SELECT COUNT(DISTINCT order_id) AS weekend_orders FROM purchases WHERE dayofweek(order_date) IN (0, 6);

-- Orders of the last 90 days
SELECT count(distinct order_id) FROM purchases WHERE order_date > current_date - 90;

-- Gifts: share of lines and mean value
SELECT gift, COUNT(*) AS n, AVG(price * quantity) AS mean_value FROM purchases GROUP BY gift;

-- Web and app together against the rest
SELECT CASE WHEN channel IN ('web', 'app') THEN 'online' ELSE 'offline' END AS channel, COUNT(*) AS lines, SUM(quantity) AS units
FROM purchases
GROUP BY CASE WHEN channel IN ('web', 'app') THEN 'online' ELSE 'offline' END
ORDER BY units DESC;

-- Large lines: value over 500, through a projection first
WITH valued AS (
    SELECT customer_id, channel, price * quantity AS value FROM purchases WHERE quantity IS NOT NULL
)
SELECT channel, COUNT(*) AS large_lines, SUM(value) AS value
FROM valued
WHERE value > 500
GROUP BY channel
ORDER BY value DESC;

-- [tsql] Best ten products by units
SELECT TOP 10 p.product_name AS [Product], SUM(u.quantity) AS [Units]
FROM shop.purchases AS u
INNER JOIN shop.products AS p ON p.sku = u.sku
GROUP BY p.product_name
ORDER BY [Units] DESC;

-- [bigquery] Revenue by week since March 2024
SELECT DATE_TRUNC(order_date, WEEK(MONDAY)) AS week, ROUND(SUM(price * quantity), 0) AS revenue, COUNT(DISTINCT customer_id) AS buyers
FROM `shop.purchases`
WHERE order_date >= DATE '2024-03-01'
GROUP BY week
ORDER BY week

-- [spark] Buyers and revenue by channel and month
SELECT channel, trunc(order_date, 'MONTH') AS month, approx_count_distinct(customer_id) AS buyers, sum(quantity * price) AS revenue
FROM purchases
GROUP BY channel, trunc(order_date, 'MONTH')

-- [postgres] Mean and count of the discount for each channel, as text for a slide
SELECT channel, round(avg(discount)::numeric * 100, 1)::text || ' %' AS discount, count(discount)::int AS n
FROM shop.purchases
GROUP BY channel
ORDER BY channel;
