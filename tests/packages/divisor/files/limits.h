#define LEAST 2
