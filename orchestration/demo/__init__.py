"""The demo: a made-up hospital, and what an attacker learns of it."""
