package io.millrace.work.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

final class RelativeTimesTest {
  private static final Instant NOW = Instant.parse("2026-11-24T12:00:00Z");

  private static ObjectNode json(String text) {
    return (ObjectNode) JsonMapper.shared().readTree(text.replace('\'', '"'));
  }

  @Test
  void a_time_ago_becomes_a_date_wherever_it_is() {
    ObjectNode filter =
        json("{'$or': [{'mtime': {'$lt': {'$ago': '2h'}}}, {'a': 1}], 'b': {'$ago': '1500ms'}}");

    assertThat(RelativeTimes.resolve(filter, NOW))
        .isEqualTo(
            json(
                "{'$or': [{'mtime': {'$lt': {'$date': "
                    + NOW.minusSeconds(7_200).toEpochMilli()
                    + "}}}, {'a': 1}], 'b': {'$date': "
                    + NOW.minusMillis(1_500).toEpochMilli()
                    + "}}"));
  }

  @Test
  void what_is_no_duration_is_refused() {
    for (String wrong : new String[] {"'soon'", "2", "null", "'-1h'", "'99999d'"}) {
      assertThatThrownBy(() -> RelativeTimes.resolve(json("{'a': {'$ago': " + wrong + "}}"), NOW))
          .isInstanceOf(FilterException.class)
          .hasMessageContaining("$ago must be");
    }
  }
}
