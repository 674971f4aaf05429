enum { LONGEST = 16 };
