enum { LONGEST = {{longest}} };
