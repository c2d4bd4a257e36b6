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
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Rules documents out by a search in their JSON text, which takes a small part of the time that it
 * takes to parse them. What it lets pass may match or not: the filter itself decides.
 */
public final class Prefilter {
  /** What JSON, or the writer of a document, may write in another form. */
  private static final Pattern ESCAPED = Pattern.compile("[^ -~]|[\"\\\\{}/<>&']");

  /** The name of a field that is written as it is, and is no index of a list. */
  private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]*");

  /**
   * Characters from those that JSON has most of to those that it has least of; others are rarer.
   */
  private static final String BY_FREQUENCY = ",: 0123456789eatonsrdlcmuphgbfywvxjqz";

  /**
   * Letters that are the lower case of others than theirs: of the Kelvin sign, and of a dotted I.
   */
  private static final String AMBIGUOUS = "ki";

  /** Of a number that surely fits into a long, with its sign. */
  private static final int MOST_DIGITS = 18;

  /**
   * How the documents are written.
   *
   * @param texts the fields whose values, if they are text, are in the document as they are; what
   *     is within their objects is written without spaces
   * @param numbers the fields that are whole numbers, and not the last ones, written without spaces
   * @param quoted a text as it is written in documents, with its quotes
   */
  public record Writing(Set<String> texts, Set<String> numbers, UnaryOperator<String> quoted) {}

  private final Writing writing;

  private Prefilter(Writing writing) {
    this.writing = writing;
  }

  /** Returns a predicate on the JSON of a document, which holds if the filter can match it. */
  public static Predicate<Bytes> of(Filter filter, Writing writing) {
    Predicate<String> needed = new Prefilter(writing).needed(filter);
    return needed == null ? _ -> true : json -> needed.test(json.utf8());
  }

  /** Returns a predicate on JSON, which holds if it may have a value that contains a text. */
  public static Predicate<Bytes> containing(String text) {
    String part = longestPlain(text).toLowerCase(Locale.ROOT);
    if (part.isEmpty()) {
      return _ -> true;
    }
    Predicate<String> within = inAnyCase(part);
    return json -> within.test(json.utf8());
  }

  /**
   * Holds for a text that contains a part in any case of its letters, and perhaps for others. Looks
   * for the rarest character of the part, since that takes a small part of the time that lower case
   * of the whole text takes.
   *
   * @param part ASCII in lower case
   */
  private static Predicate<String> inAnyCase(String part) {
    int rarest = 0;
    for (int i = 1; i < part.length(); i++) {
      if (rarity(part.charAt(i)) > rarity(part.charAt(rarest))) {
        rarest = i;
      }
    }
    char lower = part.charAt(rarest);
    if (rarity(lower) < 0) {
      return text -> text.toLowerCase(Locale.ROOT).contains(part);
    }
    char upper = Character.toUpperCase(lower);
    int offset = rarest;
    return text ->
        isWithin(text, part, offset, lower)
            || (upper != lower && isWithin(text, part, offset, upper));
  }

  private static int rarity(char c) {
    if (AMBIGUOUS.indexOf(c) >= 0) {
      return -1;
    }
    int known = BY_FREQUENCY.indexOf(c);
    return known < 0 ? BY_FREQUENCY.length() : known;
  }

  /** Whether a part is within a text where the text has this character at this offset of it. */
  private static boolean isWithin(String text, String part, int offset, char character) {
    for (int at = text.indexOf(character, offset); at >= 0; at = text.indexOf(character, at + 1)) {
      if (text.regionMatches(true, at - offset, part, 0, part.length())) {
        return true;
      }
    }
    return false;
  }

  /** What holds for the text of each document that matches; null if nothing is known. */
  private @Nullable Predicate<String> needed(Filter filter) {
    return switch (filter) {
      case Filter.Every(List<Filter> parts) -> {
        Predicate<String> all = null;
        for (Filter part : parts) {
          Predicate<String> one = needed(part);
          if (one != null) {
            all = all == null ? one : all.and(one);
          }
        }
        yield all;
      }
      case Filter.Any(List<Filter> parts) -> {
        Predicate<String> any = _ -> false;
        for (Filter part : parts) {
          Predicate<String> one = needed(part);
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
        if (!writing.texts().contains(field)) {
          yield null;
        }
        Predicate<String> text = needed(condition);
        yield text == null && path.steps().size() > 1
            ? within(path.steps().getLast(), condition)
            : text;
      }
    };
  }

  private static @Nullable Predicate<String> ofNumber(String field, Condition condition) {
    if (!(condition instanceof Condition.OneOf(List<JsonNode> wanted))
        || !wanted.stream().allMatch(JsonNode::isInt)) {
      return within(field, condition);
    }
    List<String> texts =
        wanted.stream().map(number -> "\"" + field + "\":" + number.intValue() + ",").toList();
    return json -> texts.stream().anyMatch(json::contains);
  }

  private @Nullable Predicate<String> needed(Condition condition) {
    return switch (condition) {
      case Condition.OneOf(List<JsonNode> wanted)
          when wanted.stream().allMatch(Prefilter::isText) -> {
        List<String> texts = wanted.stream().map(JsonNode::asString).map(writing.quoted()).toList();
        yield json -> texts.stream().anyMatch(json::contains);
      }
      case Condition.Contains(String text) -> {
        String part = longestPlain(text);
        yield part.isEmpty() ? null : inAnyCase(part);
      }
      case Condition.OneOf _, Condition.Compared _, Condition.Exists _, Condition.Not _ -> null;
    };
  }

  /**
   * What a field has to be, if that is known: it is there, and its value is one of those wanted, or
   * a list, or written in a way that only a parser understands.
   */
  private static @Nullable Predicate<String> within(String name, Condition condition) {
    // A name of digits may be the index of an element.
    if (condition.test(List.of()) || !PLAIN_NAME.matcher(name).matches()) {
      return null;
    }
    String key = "\"" + name + "\":";
    if (condition instanceof Condition.Exists) {
      return json -> json.contains(key);
    }
    if (!(condition instanceof Condition.OneOf || condition instanceof Condition.Compared)) {
      return null;
    }
    LongPredicate wanted = wholeNumbers(condition);
    return json -> {
      for (int at = json.indexOf(key); at >= 0; at = json.indexOf(key, at)) {
        at += key.length();
        if (canBe(json, at, wanted)) {
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
        && limit.isIntegralNumber()
        && limit.canConvertToLong()) {
      long compared = limit.longValue();
      return number -> relation.holds(Long.compare(number, compared));
    }
    return number -> condition.test(List.of(JsonNodeFactory.instance.numberNode(number)));
  }

  /** Whether the value that begins here can be wanted; only a whole number is looked at. */
  private static boolean canBe(String json, int begin, LongPredicate wanted) {
    int end = json.charAt(begin) == '-' ? begin + 1 : begin;
    while (Character.isDigit(json.charAt(end))) {
      end++;
    }
    if (end == begin || end - begin > MOST_DIGITS || ".eE".indexOf(json.charAt(end)) >= 0) {
      return true;
    }
    return wanted.test(Long.parseLong(json, begin, end, 10));
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
