"""The pages of `proctor serve`: the index, and what the API has, for people with a browser."""
