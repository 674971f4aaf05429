
/* What tests use of the library javatuples: tuples that are equal if their elements are. */
class Tuple {
    private final java.util.List<Object> elements;
    Tuple(Object... elements) { this.elements = java.util.Arrays.asList(elements); }
    public Object getValue(int at) { return elements.get(at); }
    public int getSize() { return elements.size(); }
    public java.util.List<Object> toList() { return elements; }
    @Override public boolean equals(Object other) {
        return other != null && other.getClass() == getClass() && ((Tuple) other).elements.equals(elements);
    }
    @Override public int hashCode() { return elements.hashCode(); }
    @Override public String toString() { return elements.toString(); }
}

@SuppressWarnings("unchecked")
class Unit<A> extends Tuple {
    Unit(Object... elements) { super(elements); }
    public static <A> Unit<A> with(A a) { return new Unit<A>(a); }
    public A getValue0() { return (A) getValue(0); }
}

@SuppressWarnings("unchecked")
class Pair<A, B> extends Tuple {
    Pair(Object... elements) { super(elements); }
    public static <A, B> Pair<A, B> with(A a, B b) { return new Pair<A, B>(a, b); }
    public A getValue0() { return (A) getValue(0); }
    public B getValue1() { return (B) getValue(1); }
}

@SuppressWarnings("unchecked")
class Triplet<A, B, C> extends Tuple {
    Triplet(Object... elements) { super(elements); }
    public static <A, B, C> Triplet<A, B, C> with(A a, B b, C c) { return new Triplet<A, B, C>(a, b, c); }
    public A getValue0() { return (A) getValue(0); }
    public B getValue1() { return (B) getValue(1); }
    public C getValue2() { return (C) getValue(2); }
}

@SuppressWarnings("unchecked")
class Quartet<A, B, C, D> extends Tuple {
    Quartet(Object... elements) { super(elements); }
    public static <A, B, C, D> Quartet<A, B, C, D> with(A a, B b, C c, D d) {
        return new Quartet<A, B, C, D>(a, b, c, d);
    }
    public A getValue0() { return (A) getValue(0); }
    public B getValue1() { return (B) getValue(1); }
    public C getValue2() { return (C) getValue(2); }
    public D getValue3() { return (D) getValue(3); }
}
