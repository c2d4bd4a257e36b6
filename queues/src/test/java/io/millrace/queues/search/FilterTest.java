package io.millrace.queues.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.queues.ObjectId;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.work.filter.Subject;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

final class FilterTest {
  private static ObjectNode json(String text) {
    return (ObjectNode) JsonMapper.shared().readTree(text.replace('\'', '"'));
  }

  private static boolean matches(String filter, String document) {
    return TaskFilter.onDocuments(json(filter)).matches(Subject.of(json(document)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'a': 1}                       | {'a': 1.0}                  | true
          {'a': 9007199254740993}        | {'a': 9007199254740992}     | false
          {'a': null}                    | {}                          | true
          {'a': {'$exists': true}}       | {'a': null}                 | true
          {'a': {'$ne': 1}}              | {'a': [1, 2]}               | false
          {'a.b': 2}                     | {'a': [{'b': 1}, {'b': 2}]} | true
          {'a.1.b': 2}                   | {'a': [{'b': 1}, {'b': 2}]} | true
          {'a.0.b': 2}                   | {'a': [{'b': 1}, {'b': 2}]} | false
          {'a': {'x': 1, 'y': [2]}}      | {'a': {'y': [2], 'x': 1}}   | true
          {'a': [1, 2]}                  | {'a': [1, 2]}               | true
          {'a': {'$gt': 'b'}}            | {'a': 3}                    | false
          {'a': {'$gte': 1, '$lt': 2}}   | {'a': 1.5}                  | true
          {'a': {'$lt': 1e400}}          | {'a': 1}                    | true
          {'a': {'$date': '1970-01-01T00:00:01Z'}}        | {'a': 1000} | true
          {'a': {'$date': {'$numberLong': '1000'}}}       | {'a': 1000} | true
          {'$or': [{'a': 1}, {'b': 1}]}  | {'b': 1}                    | true
          {'$and': [{'a': 1}, {'b': 1}]} | {'b': 1}                    | false
          """)
  void a_filter_means_what_it_means_in_mongodb(String filter, String document, boolean expected) {
    assertThat(matches(filter, document)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'a': {'$contains': 'nn'}}     | {'a': 'Anna'}               | true
          {'a': {'$contains': 'ANN'}}    | {'a': 'Anna'}               | true
          {'a': {'$contains': 'anna'}}   | {'a': 'Ann'}                | false
          {'a': {'$contains': 'ann'}}    | {'a': {'b': [1, {'c': 'Hanna'}]}} | true
          {'a': {'$contains': 'b'}}      | {'a': {'b': 1}}             | false
          {'a': {'$contains': '12'}}     | {'a': 9007199254740993125}  | true
          {'a': {'$contains': 'tru'}}    | {'a': [true]}               | true
          {'a': {'$contains': 'null'}}   | {'a': null}                 | false
          {'a': {'$contains': 'x'}}      | {}                          | false
          """)
  void contains_finds_a_text_in_any_value_of_a_field(
      String filter, String document, boolean expected) {
    assertThat(matches(filter, document)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'a': {'$contains': 1}}      | $contains needs a text that is not empty
          {'a': {'$contains': ''}}     | $contains needs a text that is not empty
          {'a': {'$regex': 'x'}}       | unknown operator $regex
          {'$where': '1'}              | unknown operator $where
          {'a': {'$in': [{'$gt': 1}]}} | unknown operator $gt
          {'a': {'$in': 1}}            | $in needs an array
          {'$or': []}                  | $or needs an array of filters that is not empty
          {'$and': [1]}                | a filter must be a name/value object
          {'a': {'$exists': 'x'}}      | $exists needs true or false
          {'a': {'$gt': {}}}           | $gt compares with
          {'queue': 'demo'}            | Bad OID passed
          {'a': {'$oid': 'demo'}}      | Bad OID passed
          {'a': {'$date': 'today'}}    | not a date
          """)
  void what_is_not_known_is_refused_by_name(String filter, String message) {
    assertThatThrownBy(() -> TaskFilter.of(json(filter)))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'limit': 101}          | limit cannot exceed 100
          {'limit': -1}           | limit must be a non-negative integer
          {'limit': 'x'}          | limit must be a non-negative integer
          {'skip': 1.5}           | skip must be a non-negative integer
          {'sort': {'a': 2}}      | sort by a must be 1 or -1
          {'sort': 'a'}           | sort must be a name/value object
          {'batchSize': 1}        | unknown option batchSize
          {'projection': {'a': 1, 'b': 0}} | projection either
          {'projection': 3}       | projection must be
          """)
  void options_that_make_no_sense_are_refused_by_name(String options, String message) {
    assertThatThrownBy(() -> SearchOptions.read(json(options)))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(message);
  }

  @Test
  void a_queue_is_named_by_its_id_or_its_name() {
    ObjectId id = new ObjectId("571f8951b75bf335634ec271");
    Function<String, Optional<ObjectId>> named =
        name -> name.equals("mail") ? Optional.of(id) : Optional.empty();
    for (String filter :
        List.of("{'queue': 'mail'}", "{'queue': {'$in': ['mail']}}", "{'queue': '" + id + "'}")) {
      assertThat(
              TaskFilter.of(json(filter), Instant.EPOCH, named)
                  .matches(Subject.of(json("{'queue': '" + id + "'}"))))
          .as(filter)
          .isTrue();
    }
    assertThatThrownBy(() -> TaskFilter.of(json("{'queue': 'no'}"), Instant.EPOCH, named))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessage(
            "Bad OID passed: \"no\"; queue must be the id or the name of a queue, and there is no"
                + " queue no");
    assertThatThrownBy(() -> TaskFilter.of(json("{'_id': 'mail'}"), Instant.EPOCH, named))
        .hasMessage("Bad OID passed: \"mail\"; _id must be the id of a task");
  }

  @Test
  void a_projection_shows_some_fields_or_all_but_some() {
    ObjectNode task = json("{'_id': 1, 'status': 2, 'params': {'a': 1, 'b': [{'c': 1, 'd': 2}]}}");
    assertThat(projected(task, "{'status': 1}")).isEqualTo(json("{'_id': 1, 'status': 2}"));
    assertThat(projected(task, "{'_id': 0, 'params.b.c': 1}"))
        .isEqualTo(json("{'params': {'b': [{'c': 1}]}}"));
    assertThat(projected(task, "{'params.b': 0, '_id': 0}"))
        .isEqualTo(json("{'status': 2, 'params': {'a': 1}}"));
    assertThat(projected(task, "{'_id': 1}")).isEqualTo(json("{'_id': 1}"));
    assertThat(projected(task, "{'_id': 0}"))
        .isEqualTo(json("{'status': 2, 'params': {'a': 1, 'b': [{'c': 1, 'd': 2}]}}"));
  }

  private static ObjectNode projected(ObjectNode task, String projection) {
    ObjectNode options = JsonMapper.shared().createObjectNode();
    options.set("projection", json(projection));
    return SearchOptions.read(options).projection().of(task);
  }
}
