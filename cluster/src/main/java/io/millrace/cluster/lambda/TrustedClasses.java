package io.millrace.cluster.lambda;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The classes whose objects a member accepts from other members: the classes that a given class
 * loader defines itself, and the classes of given packages. Java's values and collections and the
 * types of {@code io.millrace.cluster.shared} are always accepted. The class that contains a lambda
 * must be trusted too. Immutable.
 *
 * @param classes the class loader that finds classes. Classes that it defines itself are trusted,
 *     unless it is the loader of Millrace or one of its parents, which define too many
 * @param packages names of packages that are trusted with all packages below them, such as {@code
 *     com.acme}
 */
public record TrustedClasses(ClassLoader classes, Set<String> packages) {
  private static final ClassLoader OURS = TrustedClasses.class.getClassLoader();

  /**
   * Copies the names.
   *
   * @throws IllegalArgumentException if a name is not the name of a package
   */
  public TrustedClasses {
    packages = Set.copyOf(packages);
    for (String name : packages) {
      if (!isPackage(name)) {
        throw new IllegalArgumentException("'" + name + "' is not the name of a package");
      }
    }
  }

  /** Trusts these packages and all packages below them, from the class path of Millrace. */
  public static TrustedClasses packages(String... names) {
    return new TrustedClasses(OURS, Set.of(names));
  }

  /**
   * Trusts all classes that a class loader defines itself, such as a loader for users' jars. Of the
   * loader of Millrace itself nothing is trusted: name {@link #packages} instead.
   */
  public static TrustedClasses classesOf(ClassLoader users) {
    return new TrustedClasses(users, Set.of());
  }

  /** The same with another package and all packages below it. */
  public TrustedClasses and(String name) {
    Set<String> more = packages.stream().collect(Collectors.toSet());
    more.add(name);
    return new TrustedClasses(classes, more);
  }

  /**
   * Finds a class without initializing it, if it is trusted.
   *
   * @param name the name, as {@link Class#getName} returns it
   * @throws RefusedLambdaException if it is not trusted
   */
  Class<?> find(String name) throws ClassNotFoundException {
    Class<?> type = Class.forName(name, false, classes);
    if (!allows(type)) {
      throw new RefusedLambdaException("class " + name + " is not trusted");
    }
    return type;
  }

  /** Whether objects of a class, or of the elements of an array class, are accepted. */
  boolean allows(Class<?> type) {
    Class<?> element = type;
    while (element.isArray()) {
      element = element.componentType();
    }
    if (type.isArray() && (element.isPrimitive() || KnownClasses.mayBeElement(element))) {
      return true;
    }
    return KnownClasses.contains(element) || isNamed(element) || isUsers(element);
  }

  private boolean isNamed(Class<?> type) {
    String name = type.getName();
    return packages.stream().anyMatch(prefix -> name.startsWith(prefix + "."));
  }

  private boolean isUsers(Class<?> type) {
    return classes.equals(type.getClassLoader()) && !isAboveOurs(classes);
  }

  private static boolean isAboveOurs(ClassLoader loader) {
    for (ClassLoader above = OURS; above != null; above = above.getParent()) {
      if (loader.equals(above)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isPackage(String name) {
    return Arrays.stream(name.split("\\.", -1)).allMatch(TrustedClasses::isIdentifier);
  }

  private static boolean isIdentifier(String part) {
    return !part.isEmpty()
        && Character.isJavaIdentifierStart(part.charAt(0))
        && part.chars().allMatch(Character::isJavaIdentifierPart);
  }

  /** Classes that are safe to deserialize: values, collections of them, and lambdas. */
  private static final class KnownClasses {
    private static final Set<String> NAMES =
        Set.of(
            "io.millrace.cluster.remote.NamedBacklog",
            "java.lang.Boolean",
            "java.lang.Byte",
            "java.lang.Character",
            "java.lang.Double",
            "java.lang.Enum",
            "java.lang.Float",
            "java.lang.Integer",
            "java.lang.Long",
            "java.lang.Number",
            "java.lang.Short",
            "java.lang.String",
            "java.lang.invoke.SerializedLambda",
            "java.math.BigDecimal",
            "java.math.BigInteger",
            "java.math.MathContext",
            "java.math.RoundingMode",
            "java.net.URI",
            "java.util.ArrayDeque",
            "java.util.ArrayList",
            "java.util.BitSet",
            "java.util.CollSer",
            "java.util.Currency",
            "java.util.Date",
            "java.util.EnumMap",
            "java.util.EnumSet",
            "java.util.HashMap",
            "java.util.HashSet",
            "java.util.JumboEnumSet",
            "java.util.LinkedHashMap",
            "java.util.LinkedHashSet",
            "java.util.LinkedList",
            "java.util.Locale",
            "java.util.PriorityQueue",
            "java.util.RegularEnumSet",
            "java.util.TreeMap",
            "java.util.TreeSet",
            "java.util.UUID");

    /** Prefixes of the names of further such classes, and of their nested classes. */
    private static final Set<String> PREFIXES =
        Set.of(
            "io.millrace.cluster.shared.",
            "java.time.",
            "java.util.AbstractMap$",
            "java.util.Arrays$",
            "java.util.Collections$",
            "java.util.Comparators$",
            "java.util.EnumSet$",
            "java.util.ImmutableCollections$");

    private KnownClasses() {}

    static boolean contains(Class<?> type) {
      String name = type.getName();
      return NAMES.contains(name) || PREFIXES.stream().anyMatch(name::startsWith);
    }

    /**
     * Whether arrays of this class are accepted although its objects are not; collections contain
     * such arrays.
     */
    static boolean mayBeElement(Class<?> type) {
      return type == Object.class || type == Map.Entry.class;
    }
  }
}
