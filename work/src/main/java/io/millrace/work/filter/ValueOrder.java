package io.millrace.work.filter;

import java.math.BigDecimal;
import java.util.Comparator;
import java.util.Map;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;

/**
 * Compares JSON values: numbers by value, whatever their form, and strings by UTF-16 code units.
 */
public final class ValueOrder {
  /**
   * The order for sorting: absent and null first, then numbers, strings, objects, arrays and
   * booleans.
   */
  public static final Comparator<JsonNode> SORTED =
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

  /** Compares two scalars of the same kind; empty for other values. */
  public static OptionalInt compare(JsonNode left, JsonNode right) {
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

  public static int compareNumbers(JsonNode left, JsonNode right) {
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

  /** Whether the number was too large for a double. */
  private static boolean isInfinite(JsonNode number) {
    return isBinary(number) && !Double.isFinite(number.doubleValue());
  }

  /** Whether it is stored as a float or double. */
  private static boolean isBinary(JsonNode number) {
    return number.isDouble() || number.isFloat();
  }

  /** The value as a double; infinite if it is too large. */
  public static double approximate(JsonNode number) {
    return isBinary(number) ? number.doubleValue() : number.decimalValue().doubleValue();
  }

  /** Whether a number is 0, in whatever form. */
  public static boolean isZero(JsonNode number) {
    return isBinary(number) ? number.doubleValue() == 0 : number.decimalValue().signum() == 0;
  }

  private static BigDecimal decimal(JsonNode number) {
    return number.decimalValue();
  }

  /** Whether two values are equal, regardless of the order of fields. */
  public static boolean equal(JsonNode left, JsonNode right) {
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
