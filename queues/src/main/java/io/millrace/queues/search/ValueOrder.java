package io.millrace.queues.search;

import java.math.BigDecimal;
import java.util.Comparator;
import java.util.Map;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;

/** How JSON values compare: numbers by size whatever their form, strings by code units. */
final class ValueOrder {
  /**
   * For sorting: absent and null first, then numbers, strings, objects, arrays and truth values.
   */
  static final Comparator<JsonNode> SORTED =
      (left, right) -> {
        int byKind = Integer.compare(rank(left), rank(right));
        return byKind != 0 ? byKind : compare(left, right).orElse(0);
      };

  private ValueOrder() {}

  private static int rank(JsonNode value) {
    return switch (value.getNodeType()) {
      case MISSING, NULL -> 0;
      case NUMBER -> 1;
      case STRING -> 2;
      case OBJECT -> 3;
      case ARRAY -> 4;
      case BOOLEAN -> 5;
      case BINARY, POJO -> 6;
    };
  }

  /** How two scalars of the same kind compare; empty for values that do not. */
  static OptionalInt compare(JsonNode left, JsonNode right) {
    if (left.isNumber() && right.isNumber()) {
      return OptionalInt.of(compareNumbers(left, right));
    }
    if (left.isString() && right.isString()) {
      return OptionalInt.of(left.asString().compareTo(right.asString()));
    }
    if (left.isBoolean() && right.isBoolean()) {
      return OptionalInt.of(Boolean.compare(left.booleanValue(), right.booleanValue()));
    }
    return left.isNull() && right.isNull() ? OptionalInt.of(0) : OptionalInt.empty();
  }

  static int compareNumbers(JsonNode left, JsonNode right) {
    if (left.canConvertToLong()
        && right.canConvertToLong()
        && left.isIntegralNumber()
        && right.isIntegralNumber()) {
      return Long.compare(left.longValue(), right.longValue());
    }
    if (isInfinite(left) || isInfinite(right)) {
      return Double.compare(approximate(left), approximate(right));
    }
    return decimal(left).compareTo(decimal(right));
  }

  /** A number too large for a double is read as infinite. */
  private static boolean isInfinite(JsonNode number) {
    return isBinary(number) && !Double.isFinite(number.doubleValue());
  }

  /** Whether it is kept as a binary fraction; others may be too large to be read as one. */
  private static boolean isBinary(JsonNode number) {
    return number.isDouble() || number.isFloat();
  }

  /** About how large a number is; infinite if that is too large for a binary fraction. */
  static double approximate(JsonNode number) {
    return isBinary(number) ? number.doubleValue() : number.decimalValue().doubleValue();
  }

  /** Whether a number is 0, in whatever form. */
  static boolean isZero(JsonNode number) {
    return isBinary(number) ? number.doubleValue() == 0 : number.decimalValue().signum() == 0;
  }

  private static BigDecimal decimal(JsonNode number) {
    return number.decimalValue();
  }

  /** Whether two values are the same; the order of fields does not count. */
  static boolean equal(JsonNode left, JsonNode right) {
    if (left.isObject() && right.isObject()) {
      return left.size() == right.size() && fieldsEqual(left, right);
    }
    if (left.isArray() && right.isArray()) {
      return left.size() == right.size() && elementsEqual(left, right);
    }
    OptionalInt compared = compare(left, right);
    return compared.isPresent() && compared.getAsInt() == 0;
  }

  private static boolean fieldsEqual(JsonNode left, JsonNode right) {
    for (Map.Entry<String, JsonNode> field : left.properties()) {
      JsonNode other = right.get(field.getKey());
      if (other == null || !equal(field.getValue(), other)) {
        return false;
      }
    }
    return true;
  }

  private static boolean elementsEqual(JsonNode left, JsonNode right) {
    for (int i = 0; i < left.size(); i++) {
      if (!equal(left.get(i), right.get(i))) {
        return false;
      }
    }
    return true;
  }
}
