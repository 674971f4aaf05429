// Tries: to have the compiler quote files of the host in its complaints.
// Task: secret. Must get: CE.
#include "/etc/passwd"
#include "/etc/hostname"
int main(void) { return 0; }
