package io.millrace.cluster.lambda;

import java.util.Map;
import java.util.Set;

/** Classes that are harmless in everybody's hands: values, collections of them, and lambdas. */
final class KnownClasses {
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

  /** With what they are made of. */
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

  /** Whether collections have arrays of it inside, though objects of it are not made. */
  static boolean mayBeElement(Class<?> type) {
    return type == Object.class || type == Map.Entry.class;
  }
}
