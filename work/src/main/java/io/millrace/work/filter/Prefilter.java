package io.millrace.work.filter;

import io.millrace.store.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Rules documents out by a search in their bytes, which takes a small part of the time that it
 * takes to parse them. What it lets pass may match or not: the filter itself decides.
 */
public final class Prefilter {
  /** What JSON, or the writer of a document, may write in another form. */
  private static final Pattern ESCAPED = Pattern.compile("[^ -~]|[\"\\\\{}/<>&']");

  /** The name of a field that is written as it is, and is no index of a list. */
  private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]*");

  /**
   * Letters that are the lower case of others than theirs: of the Kelvin sign, and of a dotted I.
   */
  private static final Pattern AMBIGUOUS = Pattern.compile("[ki]");

  /** Of a number that surely fits into a long, with its sign. */
  private static final int MOST_DIGITS = 18;

  /**
   * How the documents are written.
   *
   * @param texts the fields whose values, if they are text, are in the document as they are; what
   *     is within their objects is written without spaces
   * @param lists the fields that filters see as lists of texts, and that are written as one text
   *     with commas
   * @param numbers the fields that are whole numbers, and not the last ones, written without spaces
   * @param quoted a text as it is written in documents, with its quotes
   */
  public record Writing(
      Set<String> texts, Set<String> lists, Set<String> numbers, UnaryOperator<String> quoted) {}

  private final Writing writing;

  private Prefilter(Writing writing) {
    this.writing = writing;
  }

  /** Returns a predicate on the JSON of a document, which holds if the filter can match it. */
  public static Predicate<Bytes> of(Filter filter, Writing writing) {
    Predicate<Bytes> needed = new Prefilter(writing).needed(filter);
    return needed == null ? _ -> true : needed;
  }

  /** Returns a predicate on JSON, which holds if it may have a value that contains a text. */
  public static Predicate<Bytes> containing(String text) {
    String part = longestPlain(text).toLowerCase(Locale.ROOT);
    return part.isEmpty() ? _ -> true : inAnyCase(part);
  }

  /**
   * Holds for a text that contains a part in any case of its letters.
   *
   * @param part ASCII in lower case
   */
  private static Predicate<Bytes> inAnyCase(String part) {
    Predicate<Bytes> within = BytePattern.inAnyCase(part)::isIn;
    return AMBIGUOUS.matcher(part).find()
        ? within.or(json -> !json.isAscii() && json.utf8().toLowerCase(Locale.ROOT).contains(part))
        : within;
  }

  /** What holds for the JSON of each document that matches; null if nothing is known. */
  private @Nullable Predicate<Bytes> needed(Filter filter) {
    return switch (filter) {
      case Filter.Every(List<Filter> parts) -> {
        Predicate<Bytes> all = null;
        for (Filter part : parts) {
          Predicate<Bytes> one = needed(part);
          if (one != null) {
            all = all == null ? one : all.and(one);
          }
        }
        yield all;
      }
      case Filter.Any(List<Filter> parts) -> {
        Predicate<Bytes> any = _ -> false;
        for (Filter part : parts) {
          Predicate<Bytes> one = needed(part);
          if (one == null) {
            yield null;
          }
          any = any.or(one);
        }
        yield any;
      }
      case Filter.OfField(FieldPath path, Condition condition) -> {
        String field = path.steps().getFirst();
        if (writing.numbers().contains(field)) {
          yield path.steps().size() == 1 ? ofNumber(field, condition) : null;
        }
        if (writing.lists().contains(field)) {
          yield path.steps().size() == 1 ? ofList(condition) : null;
        }
        if (!writing.texts().contains(field)) {
          yield null;
        }
        Predicate<Bytes> text = needed(condition);
        yield text == null && path.steps().size() > 1
            ? within(path.steps().getLast(), condition)
            : text;
      }
    };
  }

  private static @Nullable Predicate<Bytes> ofNumber(String field, Condition condition) {
    if (!(condition instanceof Condition.OneOf(List<JsonNode> wanted))
        || !wanted.stream().allMatch(JsonNode::isInt)) {
      return within(field, condition);
    }
    return anyOf(wanted.stream().map(number -> "\"" + field + "\":" + number.intValue() + ","));
  }

  private @Nullable Predicate<Bytes> ofList(Condition condition) {
    if (!(condition instanceof Condition.OneOf(List<JsonNode> wanted))) {
      return needed(condition);
    }
    List<String> parts = wanted.stream().map(each -> longestPlain(each.asString(""))).toList();
    return parts.contains("") ? null : anyOf(parts.stream());
  }

  private static Predicate<Bytes> anyOf(Stream<String> texts) {
    List<BytePattern> patterns = texts.map(BytePattern::of).toList();
    if (patterns.size() == 1) {
      return patterns.getFirst()::isIn;
    }
    return json -> {
      for (BytePattern pattern : patterns) {
        if (pattern.isIn(json)) {
          return true;
        }
      }
      return false;
    };
  }

  private @Nullable Predicate<Bytes> needed(Condition condition) {
    return switch (condition) {
      case Condition.OneOf(List<JsonNode> wanted)
          when wanted.stream().allMatch(Prefilter::isText) ->
          anyOf(wanted.stream().map(JsonNode::asString).map(writing.quoted()));
      case Condition.Contains(String text) -> {
        String part = longestPlain(text);
        yield part.isEmpty() ? null : inAnyCase(part.toLowerCase(Locale.ROOT));
      }
      case Condition.OneOf _, Condition.Compared _, Condition.Exists _, Condition.Not _ -> null;
    };
  }

  /**
   * What a field has to be, if that is known: it is there, and its value is one of those wanted, or
   * a list, or written in a way that only a parser understands.
   */
  private static @Nullable Predicate<Bytes> within(String name, Condition condition) {
    // A name of digits may be the index of an element.
    if (condition.test(List.of()) || !PLAIN_NAME.matcher(name).matches()) {
      return null;
    }
    BytePattern key = BytePattern.of("\"" + name + "\":");
    if (condition instanceof Condition.Exists) {
      return key::isIn;
    }
    if (!(condition instanceof Condition.OneOf || condition instanceof Condition.Compared)) {
      return null;
    }
    LongPredicate wanted = wholeNumbers(condition);
    return json -> {
      for (int at = key.indexIn(json, 0); at >= 0; at = key.indexIn(json, at + 1)) {
        if (canBe(json, at + key.size(), wanted)) {
          return true;
        }
      }
      return false;
    };
  }

  /** The condition on a whole number. */
  private static LongPredicate wholeNumbers(Condition condition) {
    if (condition instanceof Condition.OneOf(List<JsonNode> wanted)
        && wanted.stream().allMatch(JsonNode::isInt)) {
      long[] numbers = wanted.stream().mapToLong(JsonNode::longValue).sorted().toArray();
      return number -> Arrays.binarySearch(numbers, number) >= 0;
    }
    if (condition instanceof Condition.Compared(Condition.Relation relation, JsonNode limit)
        && limit.canConvertToExactIntegral()
        && limit.canConvertToLong()) {
      long compared = limit.longValue();
      return number -> relation.holds(Long.compare(number, compared));
    }
    return number -> condition.test(List.of(JsonNodeFactory.instance.numberNode(number)));
  }

  /** Whether the value that begins here can be wanted; only a whole number is looked at. */
  private static boolean canBe(Bytes json, int begin, LongPredicate wanted) {
    boolean negative = json.at(begin) == '-';
    int first = negative ? begin + 1 : begin;
    int end = first;
    long number = 0;
    for (byte b = json.at(end); b >= '0' && b <= '9' && end - first <= MOST_DIGITS; ) {
      number = 10 * number + b - '0';
      end++;
      b = json.at(end);
    }
    return switch (json.at(end)) {
      case '.', 'e', 'E' -> true;
      default ->
          end == first || end - first > MOST_DIGITS || wanted.test(negative ? -number : number);
    };
  }

  /** Whether it is a text that can be written: half a pair of surrogates cannot. */
  private static boolean isText(JsonNode value) {
    return value.isString() && StandardCharsets.UTF_8.newEncoder().canEncode(value.asString());
  }

  /** The longest part of a text that is written as it is in any JSON. */
  private static String longestPlain(String text) {
    return ESCAPED.splitAsStream(text).max(Comparator.comparingInt(String::length)).orElse("");
  }
}
