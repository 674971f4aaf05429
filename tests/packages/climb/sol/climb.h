#ifdef __cplusplus
extern "C"
#endif
int climb(int n, const int *heights);
