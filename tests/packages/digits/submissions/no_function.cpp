// Does not link: the function has another name.
int sum_of_digits(long long n) { return n < 10 ? n : n % 10 + sum_of_digits(n / 10); }
