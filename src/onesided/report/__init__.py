"""HTML pages that stand alone: no network, no scripts, charts as SVG."""
