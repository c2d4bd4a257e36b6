package io.millrace.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.Transaction.Renewal;
import io.millrace.store.Transaction.Taking;
import io.millrace.store.Transaction.Update;
import io.millrace.store.Transaction.When;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The exact JSON of old clients and of ours. */
final class SeedFormTest {
  private static final String UPDATE =
      """
      {"clientid": 1643,
       "adds": [{"group": "map",
                 "data": "/path/to/file:1024:2048"},
                {"group": "map",
                 "data": "/path/to/file:2048:3096"}],
       "updates": [{"id": 14,
                    "data": "some data for this task",
                    "timespec": -60000}],
       "deletes": [16, 18, 20],
       "depends": [12, 13]}
      """;
  private static final String CLAIM =
      """
      {"clientid": 1532,
       "group": "map",
       "duration": 60000,
       "depends": [14, 10]}
      """;

  private static Transaction update(String json) {
    return Requests.readTransaction(json.getBytes(UTF_8), "");
  }

  private static Claim claim(String json) {
    return Requests.readClaim(json.getBytes(UTF_8), "");
  }

  private static void refused(Runnable reading, String message) {
    assertThatThrownBy(reading::run).isInstanceOf(WireException.class).hasMessage(message);
  }

  private static void updateRefused(String json, String message) {
    refused(() -> update(json), message);
  }

  private static void claimRefused(String json, String message) {
    refused(() -> claim(json), message);
  }

  @Test
  void the_seeds_update_is_read_word_by_word() {
    assertThat(update(UPDATE))
        .isEqualTo(
            Transaction.by(Owner.client(1643))
                .add("map", "/path/to/file:1024:2048")
                .add("map", "/path/to/file:2048:3096")
                .update(TaskRef.id(14), Bytes.of("some data for this task"), new When.After(60_000))
                .delete(TaskRef.id(16))
                .delete(TaskRef.id(18))
                .delete(TaskRef.id(20))
                .depend(TaskRef.id(12))
                .depend(TaskRef.id(13))
                .build());
  }

  @Test
  void the_seeds_claim_is_read_word_by_word() {
    Claim claim = claim(CLAIM);
    assertThat(claim.client()).isEqualTo(Owner.client(1532));
    assertThat(claim.groups()).containsExactly("map");
    assertThat(claim.leaseMillis()).isEqualTo(60_000);
    assertThat(claim.depends()).containsExactly(TaskRef.id(14), TaskRef.id(10));
    assertThat(claim.count()).isEqualTo(1);
    assertThat(claim.order()).isEqualTo(Claim.Order.RANDOM);
    assertThat(claim.waitMillis()).isZero();
    assertThat(claim.requestId()).isNull();
  }

  @Test
  void both_are_read_from_form_fields() {
    String form = "x=1&update=" + URLEncoder.encode(UPDATE, UTF_8);
    assertThat(update(form)).isEqualTo(update(UPDATE));
    assertThat(claim("claim=" + URLEncoder.encode(CLAIM, UTF_8))).isEqualTo(claim(CLAIM));
    updateRefused("claim=%7B%7D", "expected a JSON object or the form field update");
    updateRefused("update=%7B&update=%7B", "the form field update is given twice");
  }

  @Test
  void a_form_that_is_not_encoded_or_not_utf_8_is_refused_with_the_place() {
    for (String broken : List.of("%zz", "%", "%7", "%-1")) {
      updateRefused(
          "update=" + broken,
          "the form field update has % without two hexadecimal digits at offset 0");
    }
    String add = "{\"clientid\":1,\"adds\":[{\"group\":\"g\",\"data\":\"%s\"}]}";
    updateRefused(
        "update=" + add.formatted("%ff"),
        "the form field update, decoded, is not UTF-8: byte 0xff at offset 43");
    updateRefused(
        "update=" + add.formatted("%C0%AF"),
        "the form field update, decoded, is not UTF-8: byte 0xc0 at offset 43");
    assertThat(update("update=" + add.formatted("ü")))
        .as("what curl sends where nobody encodes it")
        .isEqualTo(update(add.formatted("ü")));
    assertThat(update("update=" + add.formatted("%C3%BC+%2B")))
        .isEqualTo(update(add.formatted("ü +")));
  }

  @Test
  void one_field_twice_is_refused_whatever_the_case() {
    updateRefused(
        "{\"clientid\":1,\"Clientid\":2}", "malformed JSON: the field Clientid is given twice");
    updateRefused(
        "{\"CLIENTID\":1,\"Clientid\":2}", "malformed JSON: the field Clientid is given twice");
    updateRefused(
        "{\"clientid\":1,\"adds\":[{\"group\":\"a\"},{\"group\":\"a\",\"GROUP\":\"b\"}]}",
        "malformed JSON: the field adds/1/GROUP is given twice");
    assertThatThrownBy(() -> update("{\"Clientid\":1,\"clientid\":2}"))
        .isInstanceOf(WireException.class)
        .hasMessageContaining("clientid");
    claimRefused(
        "{\"clientid\":1,\"group\":null,\"Group\":\"a\",\"duration\":1}",
        "malformed JSON: the field Group is given twice");
    assertThat(update("{\"CLIENTID\":1,\"Adds\":[{\"Group\":\"a\"},{\"Group\":\"a\"}]}").adds())
        .hasSize(2);
  }

  @Test
  void an_update_without_fields_empties_the_task_and_releases_it() {
    assertThat(update("{\"clientid\":1,\"updates\":[{\"id\":14}]}").updates())
        .containsExactly(new Update(TaskRef.id(14), Bytes.EMPTY, When.now()));
  }

  @Test
  void names_match_without_regard_to_case_and_null_is_absent() {
    assertThat(
            update(
                "{\"ClientID\":1,\"Adds\":[{\"Group\":\"g\",\"Data\":null,\"TimeSpec\":null}],"
                    + "\"Updates\":null,\"Deletes\":null,\"Depends\":null}"))
        .isEqualTo(Transaction.by(Owner.client(1)).add("g", "").build());
  }

  @Test
  void an_add_with_a_future_time_is_owned_unless_it_says_otherwise() {
    assertThat(
            update(
                    "{\"clientid\":1,\"adds\":[{\"group\":\"g\",\"timespec\":-5},"
                        + "{\"group\":\"g\",\"timespec\":99999999999999},"
                        + "{\"group\":\"g\",\"timespec\":-5,\"owned\":false,\"local\":\"a\"}]}")
                .adds())
        .containsExactly(
            new Add("g", Bytes.EMPTY, new When.After(5), true, null),
            new Add("g", Bytes.EMPTY, new When.At(99_999_999_999_999L), true, null),
            new Add("g", Bytes.EMPTY, new When.After(5), false, "a"));
  }

  @Test
  void a_task_can_be_sent_back_as_it_came() {
    String task =
        "{\"id\":14,\"group\":\"map\",\"data\":\"d\",\"timespec\":7,\"ownerid\":3,\"origin\":9,"
            + "\"token\":14,\"claims\":1,\"state\":\"claimed\",\"principal\":\"p\"}";
    Transaction sent =
        update("{\"clientid\":1,\"adds\":[" + task + "],\"updates\":[" + task + "]}");
    assertThat(sent.adds())
        .containsExactly(new Add("map", Bytes.of("d"), new When.At(7), true, null));
    assertThat(sent.updates())
        .containsExactly(new Update(new TaskRef(14, 9), Bytes.of("d"), new When.At(7)));
  }

  @Test
  void negative_client_ids_are_kept_apart_and_shown_as_they_came() {
    long minusOne = update("{\"clientid\":-1}").client().client();
    assertThat(minusOne).isEqualTo((1L << 53) - 1);
    Task task = new Task(5, 5, "g", 9, Owner.client(minusOne), 0, 0, Bytes.EMPTY);
    assertThat(new String(Responses.write(task, 0, DataForm.TEXT), UTF_8))
        .contains("\"ownerid\":-1,");
    updateRefused(
        "{\"clientid\":-2147483649}",
        "clientid is -2147483649 but must be from -2147483648 to 9007197107257343");
  }

  @Test
  void our_fields_are_read() {
    assertThat(
            update(
                "{\"clientid\":1,\"updates\":[{\"origin\":3,\"keep\":true}],"
                    + "\"renewals\":[{\"id\":4,\"lease\":60}],"
                    + "\"takings\":[{\"id\":8,\"lease\":70,\"local\":\"n\"},"
                    + "{\"origin\":9,\"lease\":0}],"
                    + "\"deletes\":[{\"id\":5,\"origin\":2}],\"depends\":[{\"origin\":6}],"
                    + "\"puts\":[{\"collection\":\"c\",\"key\":\"k\",\"version\":0,"
                    + "\"body64\":\"AP8=\",\"template\":true}],"
                    + "\"documentdeletes\":[{\"collection\":\"c\",\"key\":\"d\",\"version\":7}],"
                    + "\"documentdepends\":[{\"collection\":\"c\",\"key\":\"e\"}],"
                    + "\"requestid\":\"r\",\"override\":true}"))
        .isEqualTo(
            new Transaction(
                Owner.client(1),
                List.of(),
                List.of(new Update(TaskRef.origin(3), null, When.now())),
                List.of(new Renewal(TaskRef.id(4), 60, false)),
                List.of(new Taking(TaskRef.id(8), 70, "n"), new Taking(TaskRef.origin(9), 0, null)),
                List.of(new TaskRef(5, 2)),
                List.of(TaskRef.origin(6)),
                List.of(
                    new Put(new DocumentKey("c", "k"), 0, Bytes.copyOf(new byte[] {0, -1}), true)),
                List.of(new DocumentVersion(new DocumentKey("c", "d"), 7)),
                List.of(new DocumentVersion(new DocumentKey("c", "e"), -1)),
                "r",
                true));
  }

  @Test
  void an_answer_has_the_seeds_fields_and_ours() {
    Task task =
        new Task(
            523623, 17, "map", 2_000, Owner.client(2624), 523623, 1, Bytes.of("/path:1024\"é"));
    Outcome done = new Outcome.Done(new Position(255, 8), 1_000, List.of(task), List.of(), false);
    assertThat(new String(Responses.write(done, DataForm.TEXT), UTF_8))
        .isEqualTo(
            "{\"tasks\":[{\"id\":523623,\"group\":\"map\",\"data\":\"/path:1024\\\"é\","
                + "\"timespec\":2000,\"ownerid\":2624,\"origin\":17,\"token\":523623,"
                + "\"claims\":1,\"state\":\"claimed\"}],\"position\":\"ff-8\",\"time\":1000}");
  }

  @Test
  void bytes_that_are_no_text_are_shown_as_base64() {
    Task task = new Task(1, 1, "g", 0, null, 0, 0, Bytes.copyOf(new byte[] {(byte) 0xff}));
    assertThat(new String(Responses.write(task, 0, DataForm.TEXT), UTF_8))
        .isEqualTo(
            "{\"id\":1,\"group\":\"g\",\"data64\":\"/w==\",\"timespec\":0,\"ownerid\":0,"
                + "\"origin\":1,\"token\":0,\"claims\":0,\"state\":\"waiting\"}");
  }

  @Test
  void a_refusal_has_errors_and_their_kinds_but_no_tasks() {
    Outcome refused =
        new Outcome.Refused(
            new Position(1, 2),
            3,
            List.of(
                Reason.of(Reason.Kind.MISSING_UPDATE, TaskRef.id(14), "task 14 is not there"),
                Reason.of(
                    Reason.Kind.VERSION_CONFLICT, new DocumentKey("c", "k"), "document c/k")));
    assertThat(new String(Responses.write(refused, DataForm.TEXT), UTF_8))
        .isEqualTo(
            "{\"errors\":[\"task 14 is not there\",\"document c/k\"],"
                + "\"refusal\":[{\"kind\":\"changes\",\"id\":14},"
                + "{\"kind\":\"documents\",\"collection\":\"c\",\"key\":\"k\"}],"
                + "\"position\":\"1-2\",\"time\":3}");
  }

  @Test
  void the_status_follows_from_the_reasons() {
    assertThat(status(Reason.Kind.MISSING_DELETE)).isEqualTo(409);
    assertThat(status(Reason.Kind.REQUEST_ID_REUSED)).isEqualTo(409);
    assertThat(status(Reason.Kind.MALFORMED, Reason.Kind.MISSING_DELETE)).isEqualTo(400);
    assertThat(status(Reason.Kind.TOO_LARGE, Reason.Kind.FULL)).isEqualTo(413);
    assertThat(status(Reason.Kind.FULL)).isEqualTo(503);
    assertThat(status(Reason.Kind.FULL, Reason.Kind.OWNED_BY_ANOTHER)).isEqualTo(409);
    assertThat(
            Responses.status(new Outcome.Done(new Position(1, 1), 1, List.of(), List.of(), false)))
        .isEqualTo(200);
  }

  private static int status(Reason.Kind... kinds) {
    List<Reason> reasons = Arrays.stream(kinds).map(kind -> Reason.of(kind, "why")).toList();
    return Responses.status(new Outcome.Refused(new Position(1, 1), 1, reasons));
  }

  /** What {@code json.Marshal} makes of the structs of the original's Go client. */
  @Test
  void the_bytes_of_the_go_client_are_read() {
    assertThat(
            update(
                "{\"clientid\":52,\"adds\":[{\"id\":0,\"group\":\"map\",\"data\":\"a \\u003c b"
                    + " \\u0026 c\",\"duration\":0,\"ownerid\":0},"
                    + "{\"id\":0,\"group\":\"map\",\"data\":\"\",\"duration\":-60000,\"ownerid\":0}],"
                    + "\"updates\":null,\"deletes\":null,\"depends\":null}"))
        .isEqualTo(
            Transaction.by(Owner.client(52))
                .add(new Add("map", Bytes.of("a < b & c"), new When.At(0), true, null))
                .add(new Add("map", Bytes.EMPTY, new When.After(60_000), true, null))
                .build());
    assertThat(
            update(
                "{\"clientid\":0,\"adds\":null,\"updates\":[{\"id\":14,\"group\":\"map\","
                    + "\"data\":\"d\",\"duration\":-60000,\"ownerid\":0},{\"id\":15,\"group\":\"\","
                    + "\"data\":\"\",\"duration\":1388552400000,\"ownerid\":52},{\"id\":16,\"group\":"
                    + "\"map\",\"data\":\"e\",\"duration\":0,\"ownerid\":52}],\"deletes\":[17,18],"
                    + "\"depends\":[19]}"))
        .isEqualTo(
            Transaction.by(Owner.client(0))
                .update(TaskRef.id(14), Bytes.of("d"), new When.After(60_000))
                .update(TaskRef.id(15), Bytes.EMPTY, new When.At(1_388_552_400_000L))
                .update(TaskRef.id(16), Bytes.of("e"), new When.At(0))
                .delete(TaskRef.id(17))
                .delete(TaskRef.id(18))
                .depend(TaskRef.id(19))
                .build());
    Claim claim = claim("{\"clientid\":52,\"group\":\"map\",\"duration\":60000,\"depends\":null}");
    assertThat(claim).isEqualTo(Claim.of(Owner.client(52), "map", Duration.ofMinutes(1)));
  }

  @Test
  void duration_is_the_old_name_of_timespec() {
    for (String name : List.of("timespec", "duration", "Duration")) {
      String task = "{\"id\":1,\"group\":\"g\",\"" + name + "\":";
      assertThat(update("{\"clientid\":1,\"adds\":[" + task + "0}]}").adds())
          .containsExactly(new Add("g", Bytes.EMPTY, new When.At(0), true, null));
      assertThat(update("{\"clientid\":1,\"updates\":[" + task + "0}]}").updates())
          .containsExactly(new Update(TaskRef.id(1), Bytes.EMPTY, new When.At(0)));
      assertThat(update("{\"clientid\":1,\"adds\":[" + task + "7}]}").adds())
          .containsExactly(new Add("g", Bytes.EMPTY, new When.At(7), true, null));
    }
    updateRefused(
        "{\"clientid\":1,\"adds\":[{\"group\":\"g\",\"timespec\":0,\"duration\":0}]}",
        "adds/0/duration conflicts with an earlier field: give timespec or duration (its old name),"
            + " not both");
    updateRefused(
        "{\"clientid\":1,\"updates\":[{\"id\":1},{\"id\":2,\"duration\":5,\"timespec\":5}]}",
        "updates/1/timespec conflicts with an earlier field: give timespec or duration (its old"
            + " name), not both");
    assertThat(
            update(
                    "{\"clientid\":1,\"adds\":[{\"group\":\"g\",\"timespec\":null,\"duration\":-5}]}")
                .adds())
        .containsExactly(new Add("g", Bytes.EMPTY, new When.After(5), true, null));
  }

  @Test
  void what_names_nothing_is_read_for_the_store_to_refuse_with_all_else() {
    Transaction sent =
        update(
            "{\"clientid\":1,\"adds\":[{}],\"updates\":[{},{\"id\":-3}],\"deletes\":[0],"
                + "\"depends\":[{}],\"puts\":[{\"key\":\"k\"}]}");
    assertThat(sent.adds()).containsExactly(new Add("", Bytes.EMPTY, When.now(), false, null));
    assertThat(sent.updates())
        .extracting(Update::task)
        .containsExactly(new TaskRef(0, 0), new TaskRef(-3, 0));
    assertThat(sent.deletes()).containsExactly(new TaskRef(0, 0));
    assertThat(sent.depends()).containsExactly(new TaskRef(0, 0));
    assertThat(sent.puts()).extracting(Put::key).containsExactly(new DocumentKey("", "k"));
    assertThat(update(new String(Requests.write(sent), UTF_8))).isEqualTo(sent);
    assertThat(claim("{\"clientid\":1,\"duration\":1}").groups()).isEmpty();
    refused(
        () -> Requests.readRefs("{\"ids\":[7,0]}".getBytes(UTF_8)),
        "ids/1 needs an id or an origin, at least 1");
  }

  @Test
  void malformed_updates_are_refused_with_the_name_of_what_is_wrong() {
    updateRefused("", "expected JSON, found nothing");
    updateRefused("[]", "the request must be an object, not a list");
    updateRefused("{\"adds\":[]}", "the request needs a clientid, a whole number");
    updateRefused("{\"clientid\":\"1\"}", "clientid must be a whole number, not a string");
    updateRefused(
        "{\"clientid\":1.5}",
        "clientid must be a whole number, not a number with a fraction or exponent");
    updateRefused("{\"clientid\":99999999999999999999}", "clientid is out of range");
    updateRefused("{\"clientid\":1,\"add\":[]}", "unknown field: add");
    updateRefused("{\"clientid\":1,\"adds\":[null]}", "adds/0 must be an object, not null");
    updateRefused(
        "{\"clientid\":1,\"adds\":[{\"group\":7}]}",
        "adds/0/group must be a string, not a whole number");
    updateRefused(
        "{\"clientid\":1,\"adds\":[{\"group\":\"g\",\"colour\":\"red\"}]}",
        "unknown field: adds/0/colour");
    updateRefused(
        "{\"clientid\":1,\"updates\":[{\"id\":1,\"data\":\"\",\"keep\":true}]}",
        "updates/0 has both new data and keep");
    updateRefused(
        "{\"clientid\":1,\"updates\":[{\"id\":1,\"data\":\"\",\"data64\":\"\"}]}",
        "updates/0/data64 conflicts with an earlier field: give data or data64, not both");
    updateRefused(
        "{\"clientid\":1,\"deletes\":[\"16\"]}",
        "deletes/0 must be a task id, or an object with id or origin");
    updateRefused(
        "{\"clientid\":1,\"renewals\":[{\"id\":1}]}", "renewals/0 needs a lease, in milliseconds");
    updateRefused(
        "{\"clientid\":1,\"takings\":[{\"id\":1}]}", "takings/0 needs a lease, in milliseconds");
    updateRefused(
        "{\"clientid\":1,\"adds\":[{\"group\":\"g\",\"data64\":\"????\"}]}",
        "adds/0/data64 is not base64: Illegal base64 character 3f");
    updateRefused(
        "{\"clientid\":1,\"adds\":[{\"group\":\"\\ud800\"}]}",
        "adds/0/group contains half of a surrogate pair, which is not a character");
    updateRefused("{\"clientid\":1}{}", "unexpected text after the JSON value");
    assertThatThrownBy(() -> update("{\"clientid\":1,\"clientid\":2}"))
        .isInstanceOf(WireException.class)
        .hasMessageStartingWith("malformed JSON: Duplicate")
        .hasMessageContaining("clientid");
    assertThatThrownBy(() -> update("[".repeat(100_000))).isInstanceOf(WireException.class);
  }

  @Test
  void malformed_claims_are_refused_with_the_name_of_what_is_wrong() {
    claimRefused(
        "{\"group\":\"g\",\"duration\":1}", "the request needs a clientid, a whole number");
    claimRefused(
        "{\"clientid\":1,\"group\":\"g\"}", "the request needs a duration, in milliseconds");
    claimRefused(
        "{\"clientid\":1,\"group\":\"g\",\"duration\":\"60s\"}",
        "duration must be a whole number, not a string");
    claimRefused(
        "{\"clientid\":1,\"group\":\"g\",\"groups\":[\"g\"],\"duration\":1}",
        "groups conflicts with an earlier field: give group or groups, not both");
    claimRefused(
        "{\"clientid\":1,\"group\":\"g\",\"duration\":1,\"order\":\"best\"}",
        "order must be \"random\", \"oldest\" or \"newest\"");
    claimRefused("{\"clientid\":1,\"limit\":1}", "unknown field: limit");
  }

  @Test
  void tasks_in_a_path_are_named_by_id_origin_or_both() {
    assertThat(Requests.readRefs("14,~10,14~10"))
        .containsExactly(TaskRef.id(14), TaskRef.origin(10), new TaskRef(14, 10));
    for (String wrong : List.of("", "0", "-1", "x", "1,", "~", "1~", "9999999999999999999", "١")) {
      assertThatThrownBy(() -> Requests.readRefs(wrong))
          .isInstanceOf(WireException.class)
          .hasMessageStartingWith("not a task id: \"");
    }
  }
}
