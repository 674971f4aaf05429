
static class ProctorTests {
    public static void Check(bool right) { if (!right) throw new System.Exception("a test failed"); }
}
