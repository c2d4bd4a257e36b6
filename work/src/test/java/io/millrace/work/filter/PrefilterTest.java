package io.millrace.work.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

class PrefilterTest {
  private static final JsonMapper MAPPER = new JsonMapper();

  /** Letters whose lower case is in ASCII, letters beyond it, and what JSON escapes. */
  private static final List<String> PARTS =
      List.of("k", "K", "\u212a", "i", "\u0130", "ab", "AB", "\u00e4", "\"", "\\", "7", "-", "z");

  private static final Prefilter.Writing WRITING =
      new Prefilter.Writing(
          Set.of("text", "params"),
          Set.of("tags"),
          Set.of("number"),
          text -> MAPPER.writeValueAsString(text));

  private static Predicate<Bytes> prefilter(String filter) {
    return Prefilter.of(filter(filter), WRITING);
  }

  private static Filter filter(String json) {
    return Filter.read(object(json), FilterFields.ANY);
  }

  private static ObjectNode object(String json) {
    return MAPPER.readValue(json, ObjectNode.class);
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(5); i > 0; i--) {
      text.append(PARTS.get(random.nextInt(PARTS.size())));
    }
    return text.toString();
  }

  private static ObjectNode document(Random random) {
    ObjectNode document = MAPPER.createObjectNode();
    document.put("number", random.nextInt(-3, 4)).put("text", text(random));
    ObjectNode params = document.putObject("params");
    switch (random.nextInt(5)) {
      case 0 -> params.put("count", random.nextLong());
      case 1 -> params.put("count", random.nextInt(-3, 4));
      case 2 -> params.put("count", random.nextInt(-3, 4) / 2.0);
      case 3 -> params.put("count", text(random));
      default -> params.putArray("count").add(random.nextInt(-3, 4)).add(text(random));
    }
    return document;
  }

  private static ObjectNode filter(Random random) {
    ObjectNode filter = MAPPER.createObjectNode();
    String relation = List.of("$lt", "$lte", "$gt", "$gte", "$ne").get(random.nextInt(5));
    switch (random.nextInt(8)) {
      case 0 -> filter.put("number", random.nextInt(-3, 4));
      case 1 -> filter.putObject("number").put(relation, random.nextInt(-3, 4));
      case 2 -> filter.put("text", text(random));
      case 3 -> filter.putObject("text").put("$contains", "k" + text(random));
      case 4 -> filter.putObject("params").put("$contains", "a" + text(random));
      case 5 -> filter.putObject("params.count").put(relation, random.nextInt(-3, 4));
      case 6 ->
          filter.putObject("params.count").putArray("$in").add(random.nextInt(3)).add(text(random));
      default -> filter.putObject("params.count").put("$exists", random.nextBoolean());
    }
    return filter;
  }

  @Test
  void what_matches_is_not_ruled_out() {
    Random random = new Random(1);
    int matched = 0;
    int ruledOut = 0;
    for (int i = 0; i < 20_000; i++) {
      ObjectNode document = document(random);
      ObjectNode json = filter(random);
      Filter filter = Filter.read(json, FilterFields.ANY);
      boolean passes =
          Prefilter.of(filter, WRITING).test(Bytes.of(MAPPER.writeValueAsString(document)));
      if (filter.matches(Subject.of(document))) {
        matched++;
        assertThat(passes).as("%s of %s", json, document).isTrue();
      } else if (!passes) {
        ruledOut++;
      }
    }
    assertThat(matched).isGreaterThan(2_000);
    assertThat(ruledOut).isGreaterThan(8_000);
  }

  @Test
  void elements_of_a_list_that_is_written_as_one_text_are_looked_for_in_it() {
    Bytes document = Bytes.of("{\"tags\":\"eu,nightly\",\"number\":1}");
    assertThat(prefilter("{\"tags\": \"eu\"}").test(document)).isTrue();
    assertThat(prefilter("{\"tags\": {\"$in\": [\"us\", \"nightly\"]}}").test(document)).isTrue();
    assertThat(prefilter("{\"tags\": {\"$contains\": \"NIGHT\"}}").test(document)).isTrue();
    assertThat(prefilter("{\"tags\": {\"$ne\": \"eu\"}}").test(document)).isTrue();
    assertThat(prefilter("{\"tags\": {\"$exists\": false}}").test(document)).isTrue();
    assertThat(prefilter("{\"tags\": \"us\"}").test(document)).isFalse();
    assertThat(prefilter("{\"tags\": {\"$contains\": \"weekly\"}}").test(document)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"text\": \"Anna\"}",
        "{\"text\": {\"$contains\": \"NA\"}}",
        "{\"text\": {\"$in\": [\"b\", \"c\"]}}",
        "{\"number\": 12}",
        "{\"number\": {\"$gt\": 123}}",
        "{\"number\": {\"$lt\": -1}}",
        "{\"params.count\": 5}",
        "{\"params.count\": {\"$gte\": 51}}",
        "{\"params.absent\": {\"$exists\": true}}",
        "{\"params\": {\"$contains\": \"annie\"}}"
      })
  void what_cannot_match_is_ruled_out(String filter) {
    String document = "{\"number\":123,\"text\":\"A\u00e4n\",\"params\":{\"count\":50},\"more\":0}";
    assertThat(prefilter(filter).test(Bytes.of(document))).isFalse();
  }

  @Test
  void a_part_of_any_value_is_found_in_any_case() {
    Predicate<Bytes> kiwi = Prefilter.containing("KiWi");
    for (String in : List.of("kiwi", "KIWI", "a\u212aiwib", "k\u0130wi")) {
      assertThat(kiwi.test(Bytes.of("{\"a\":\"" + in + "\"}")))
          .as(in)
          .isEqualTo(!in.contains("\u0130"));
    }
    assertThat(kiwi.test(Bytes.of("{\"a\":\"\u00e4 kiw i\"}"))).isFalse();
    // Nothing is known of what JSON may write in several ways.
    assertThat(Prefilter.containing("\"\u00e4").test(Bytes.of("{}"))).isTrue();
  }

  @Test
  void a_pattern_is_found_wherever_it_begins() {
    BytePattern pattern = BytePattern.of("aab");
    assertThat(pattern.indexIn(Bytes.of("aaab aab"), 0)).isEqualTo(1);
    assertThat(pattern.indexIn(Bytes.of("aaab aab"), 2)).isEqualTo(5);
    assertThat(pattern.indexIn(Bytes.of("aaab aab"), 6)).isNegative();
    assertThat(pattern.indexIn(Bytes.of("aaab aab"), 9)).isNegative();
    assertThat(pattern.isIn(Bytes.of("aa"))).isFalse();
    assertThat(pattern.isIn(Bytes.EMPTY)).isFalse();
    assertThatThrownBy(() -> BytePattern.of("")).isInstanceOf(IllegalArgumentException.class);
  }
}
