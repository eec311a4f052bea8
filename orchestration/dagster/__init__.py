"""From a contract to its assets, checks, job, schedule and sensor. `factory` puts them together."""
