-- Which part of the tuples of each kind are counterfeits in each allocation.
SELECT draw, dense_rank() OVER (ORDER BY signature, counterfeits, value) - 1 AS kind, fake FROM estimate_forged ORDER BY draw, kind;
