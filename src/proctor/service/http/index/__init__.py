"""The pages of `proctor serve`: the index and the routes of the APIs, for people with a browser."""
