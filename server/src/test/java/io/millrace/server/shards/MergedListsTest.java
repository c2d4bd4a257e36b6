package io.millrace.server.shards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.archive.ArchiveQuery.Cursor;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.server.queues.Input;
import io.millrace.server.schedules.ScheduleOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What is made of the answers of three shards. Apostrophes stand for quotation marks. */
class MergedListsTest {
  private static JsonNode json(String text) {
    return Json.read(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  private static JsonNode merged(String route, String query, List<JsonNode> answers) {
    return Objects.requireNonNull(MergedLists.rule(route)).merge().of(Query.parse(query), answers);
  }

  private static void assertMerged(String route, String query, String expected, String... answers) {
    JsonNode found =
        merged(route, query, Arrays.stream(answers).map(MergedListsTest::json).toList());
    assertThat(found.toString()).isEqualTo(json(expected).toString());
  }

  @Test
  void jobs_are_in_the_order_of_their_ids() {
    assertMerged(
        "GET /api/jobs",
        "limit=3",
        "[{'id':'01','key':'a'},{'id':'02','key':'b'},{'id':'03','key':'c'}]",
        "[{'id':'01','key':'a'},{'id':'04','key':'d'}]",
        "[]",
        "[{'id':'02','key':'b'},{'id':'03','key':'c'},{'id':'05','key':'e'}]");
    assertMerged(
        "GET /api/jobs",
        "order=newest",
        "[{'id':'3'},{'id':'2'},{'id':'1'}]",
        "[{'id':'2'}]",
        "[{'id':'3'},{'id':'1'}]");
  }

  @Test
  void batches_are_in_the_order_of_their_numbers() {
    assertMerged(
        "GET /api/batches",
        "",
        "[{'id':2},{'id':9},{'id':10}]",
        "[{'id':10}]",
        "[{'id':2},{'id':9}]");
  }

  @Test
  void a_batch_is_that_of_the_shard_that_has_it() {
    assertMerged("GET /api/batches/{batch}", "", "{'id':2}", "{'id':2}");
    assertThatThrownBy(
            () -> assertMerged("GET /api/batches/{batch}", "", "", "{'id':2}", "{'id':2}"))
        .isInstanceOf(HttpProblem.class)
        .hasMessage("2 shards have one with this id; name one shard: /shards/K/…");
  }

  @Test
  void queues_are_in_the_order_of_their_ids() {
    for (String route : List.of("GET /dci/queues", "GET /dci/scheduler-json")) {
      assertMerged(
          route,
          "",
          "[{'id':'0a','queued':1.50},{'id':'0b'},{'id':'0c'}]",
          "[{'id':'0b'}]",
          "[{'id':'0a','queued':1.50},{'id':'0c'}]",
          "[]");
    }
  }

  @Test
  void a_node_has_the_last_sign_of_life_and_the_id_of_the_first_shard() {
    String first =
        "{'_id':{'$oid':'01'},'id':'01','node':'n','timestamp':5,'maxthreads':2,'state':'dead','host':'h','plugins':[]}";
    String second =
        "{'_id':{'$oid':'02'},'id':'02','node':'n','timestamp':9,'maxthreads':null,'state':'alive','host':'i','plugins':['p']}";
    String other =
        "{'_id':{'$oid':'03'},'id':'03','node':'m','timestamp':1,'maxthreads':null,'state':'left'}";
    String both =
        "{'_id':{'$oid':'01'},'id':'01','node':'n','timestamp':9,'maxthreads':2,'state':'alive','host':'i','plugins':['p']}";
    assertMerged(
        "GET /dci/nodes",
        "",
        "[" + other + "," + both + "]",
        "[" + first + "]",
        "[" + other + "," + second + "]",
        "[]");
    assertMerged("GET /dci/nodes/{node}", "", both, first, second);
  }

  @Test
  void names_of_plugins_are_those_of_all_shards() {
    assertMerged("GET /dci/plugins", "", "['a','b','c']", "['b','c']", "['a','b']");
    assertMerged(
        "GET /dci/queue-prototypes-json", "", "{'a':'a','b':'b'}", "{'b':'b'}", "{'a':'a'}");
    assertMerged("GET /dci/plugins/{plugin}", "", "{'name':'a'}", "{'name':'a'}", "{'name':'a'}");
  }

  @Test
  void the_configuration_is_the_same_in_all_shards() {
    assertMerged("GET /dci/config", "", "{'label':'x'}", "{'label':'x'}", "{'label':'x'}");
    assertThatThrownBy(() -> assertMerged("GET /dci/config", "", "", "{'label':'x'}", "{}"))
        .isInstanceOfSatisfying(
            HttpProblem.class, problem -> assertThat(problem.status()).isEqualTo(409));
  }

  @Test
  void types_have_the_jobs_of_all_shards_and_the_settings_of_one() {
    assertMerged(
        "GET /api/types",
        "",
        "[{'name':'z','settings':{},'set':{},'jobs':{'pending':6,'running':1}},"
            + "{'name':'a','settings':{'attempts':'5'},'set':{'attempts':'5'},'jobs':{'pending':0,'running':0}}]",
        "[{'name':'z','settings':{},'set':{},'jobs':{'pending':1,'running':1}},"
            + "{'name':'a','settings':{},'set':{},'jobs':{'pending':0,'running':0}}]",
        "[{'name':'z','settings':{},'set':{},'jobs':{'pending':5,'running':0}},"
            + "{'name':'a','settings':{'attempts':'5'},'set':{'attempts':'5'},'jobs':{'pending':0,'running':0}}]");
  }

  @Test
  void workers_that_have_gone_are_last() {
    assertMerged(
        "GET /api/workers",
        "",
        "[{'id':'a','state':'ready','lastSeen':'2026-01-01T00:00:09Z'},"
            + "{'id':'d','state':'busy','lastSeen':'2026-01-01T00:00:01Z'},"
            + "{'id':'c','state':'disconnected','lastSeen':'2026-01-01T00:00:05Z'},"
            + "{'id':'b','state':'disconnected','lastSeen':'2026-01-01T00:00:05.5Z'}]",
        "[{'id':'a','state':'ready','lastSeen':'2026-01-01T00:00:09Z'},"
            + "{'id':'b','state':'disconnected','lastSeen':'2026-01-01T00:00:05.5Z'}]",
        "[{'id':'d','state':'busy','lastSeen':'2026-01-01T00:00:01Z'},"
            + "{'id':'c','state':'disconnected','lastSeen':'2026-01-01T00:00:05Z'}]");
    assertMerged(
        "GET /api/workers/{id}",
        "",
        "{'id':'a','lastSeen':'2026-01-01T00:00:02Z'}",
        "{'id':'a','lastSeen':'2026-01-01T00:00:01Z'}",
        "{'id':'a','lastSeen':'2026-01-01T00:00:02Z'}");
  }

  @Test
  void schedules_and_bulk_actions_have_a_cursor_if_the_page_is_full() {
    assertMerged(
        "GET /schedules",
        "limit=2",
        "{'schedules':[{'name':'a'},{'name':'b'}],'next':'b'}",
        "{'schedules':[{'name':'b'}],'next':null}",
        "{'schedules':[{'name':'a'},{'name':'c'}],'next':'c'}");
    assertMerged(
        "GET /bulk",
        "",
        "{'actions':[{'id':'3'},{'id':'2'},{'id':'1'}],'next':null}",
        "{'actions':[{'id':'2'}],'next':null}",
        "{'actions':[{'id':'3'},{'id':'1'}],'next':null}");
  }

  @Test
  void limits_are_in_the_order_of_their_names() {
    assertMerged(
        "GET /limits",
        "",
        "{'limits':[{'name':'a','used':1},{'name':'b','used':2}]}",
        "{'limits':[{'name':'b','used':2}]}",
        "{'limits':[{'name':'a','used':1}]}");
  }

  @Test
  void a_retention_is_that_of_the_shard_in_which_it_is_set() {
    assertMerged(
        "GET /retention/jobs",
        "",
        "{'types':[{'type':'-','keep_finished':null,'keep_count':null},{'type':'+','keep_finished':null,'keep_count':7},"
            + "{'type':'a','keep_finished':'1h','keep_count':null}]}",
        "{'types':[{'type':'+','keep_finished':null,'keep_count':null},{'type':'a','keep_finished':'1h','keep_count':null}]}",
        "{'types':[{'type':'-','keep_finished':null,'keep_count':null},{'type':'+','keep_finished':null,'keep_count':7},"
            + "{'type':'a','keep_finished':null,'keep_count':null}]}");
  }

  @Test
  void rows_of_an_archive_that_shards_share_are_shown_once() {
    String early = "{'id':'b','finished':'2026-01-01T00:00:00Z'}";
    String late = "{'id':'a','finished':'2026-01-01T00:00:00.123Z'}";
    assertMerged(
        "GET /archive/jobs",
        "limit=2",
        "{'jobs':[%s,%s],'next':'1767225600000-b'}".formatted(late, early),
        "{'jobs':[%s,%s],'next':'x'}".formatted(late, early),
        "{'jobs':[%s,%s],'next':'x'}".formatted(late, early),
        "{'jobs':[%s],'next':null}".formatted(early));
  }

  @Test
  void figures_are_added_up_where_all_shards_have_a_sample() {
    assertMerged(
        "GET /history",
        "",
        "{'started':'2026-01-02T00:00:00Z','interval_seconds':10,'at':[13000,27000,31002],"
            + "'tasks':{'waiting':[11,22,33],'done':[1,0.75,103]}}",
        "{'started':'2026-01-01T00:00:00Z','interval_seconds':10,'at':[1000,11000,21000,31000],"
            + "'tasks':{'waiting':[1,1,2,3],'done':[0,0.5,0.25,100]}}",
        "{'started':'2026-01-02T00:00:00Z','interval_seconds':10,'at':[13000,27000,31002],"
            + "'tasks':{'waiting':[10,20,30],'done':[0.5,0.5,3]}}");
    assertMerged(
        "GET /history",
        "",
        "{'started':'2026-01-02T00:00:00Z','interval_seconds':10,'at':[]}",
        "{'started':'2026-01-01T00:00:00Z','interval_seconds':10,'at':[1000],'tasks':{'waiting':[1]}}",
        "{'started':'2026-01-02T00:00:00Z','interval_seconds':10,'at':[]}");
  }

  @Test
  void a_page_does_not_end_between_two_with_the_same_id() {
    List<JsonNode> answers = List.of(json("[{'id':1},{'id':2}]"), json("[{'id':2},{'id':3}]"));
    assertThat(merged("GET /api/batches", "limit=3", answers)).hasSize(3);
    assertThat(merged("GET /api/batches", "limit=1", answers)).hasSize(1);
    assertThatThrownBy(() -> merged("GET /api/batches", "limit=2", answers))
        .isInstanceOf(HttpProblem.class)
        .hasMessageContaining("name one shard");
  }

  @Test
  void something_else_than_the_list_is_an_error() {
    for (String wrong : List.of("{}", "7", "[{}]", "[{'id':[]}]", "null")) {
      assertThatThrownBy(
              () -> merged("GET /api/jobs", "", List.of(json(wrong), json("[{'id':'1'}]"))))
          .as(wrong)
          .isInstanceOf(JacksonException.class);
    }
  }

  // ---- pages to the end

  /**
   * A list with pages.
   *
   * @param order that of the elements
   * @param page what a shard makes of some elements
   * @param elements those of an answer
   * @param cursor what comes after the page; null if it was the last
   */
  record Paged(
      String route,
      String query,
      Comparator<ObjectNode> order,
      Function<List<ObjectNode>, JsonNode> page,
      Function<JsonNode, JsonNode> elements,
      Function<JsonNode, @Nullable String> cursor,
      Function<ObjectNode, String> place) {}

  private static final int LIMIT = 4;
  private static final int ELEMENTS = 60;

  private static ObjectNode element(int number) {
    String padded = "%03d".formatted(number);
    return Json.object()
        .put("id", padded)
        .put("name", padded)
        .put("due", number % 7 == 0 ? null : "2026-03-%02dT02:30+01:00".formatted(1 + number % 5))
        // Some have ended in the same millisecond.
        .put("finished", Instant.ofEpochMilli(1_000_000 + number / 7).toString());
  }

  private static Paged array(String route, String query, Comparator<ObjectNode> order) {
    Function<ObjectNode, String> id = element -> element.required("id").asString();
    return new Paged(
        route,
        query,
        order,
        some -> Json.array().addAll(some),
        answer -> answer,
        answer -> answer.size() < LIMIT ? null : id.apply(answer.get(LIMIT - 1).asObject()),
        id);
  }

  private static Paged object(
      String route,
      String query,
      String field,
      Comparator<ObjectNode> order,
      Function<ObjectNode, String> place) {
    return new Paged(
        route,
        query,
        order,
        some -> {
          ObjectNode page = Json.object();
          page.set(field, Json.array().addAll(some));
          return page.put("next", some.size() < LIMIT ? null : place.apply(some.getLast()));
        },
        answer -> answer.required(field),
        answer -> answer.required("next").isNull() ? null : answer.required("next").asString(),
        place);
  }

  static Stream<Arguments> paged() {
    Comparator<ObjectNode> byId = Comparator.comparing(each -> each.required("id").asString());
    Function<ObjectNode, String> name = each -> each.required("name").asString();
    Function<ObjectNode, String> row =
        each ->
            new Cursor(
                    Instant.parse(each.required("finished").asString()).toEpochMilli(),
                    each.required("id").asString())
                .text();
    return Stream.of(
            array("GET /api/jobs", "", byId),
            array("GET /api/jobs", "order=newest&", byId.reversed()),
            array("GET /api/batches", "", byId),
            array("GET /api/batches", "order=newest&", byId.reversed()),
            object("GET /schedules", "", "schedules", byId, name),
            object(
                "GET /schedules",
                "order=due&",
                "schedules",
                Comparator.comparing(each -> each, ScheduleOrder.DUE.comparator()),
                ScheduleOrder.DUE::place),
            object("GET /bulk", "", "actions", byId.reversed(), name),
            object("GET /archive/tasks", "", "tasks", byId.reversed(), row),
            object("GET /archive/graphs", "order=oldest&", "graphs", byId, row))
        .map(paged -> Arguments.of(paged.route() + " " + paged.query(), paged));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("paged")
  void pages_to_the_end_have_each_element_once_and_in_order(String name, Paged paged) {
    List<ObjectNode> all =
        IntStream.range(0, ELEMENTS)
            .mapToObj(MergedListsTest::element)
            .sorted(paged.order())
            .toList();
    List<String> places = all.stream().map(paged.place()).toList();
    List<JsonNode> seen = new ArrayList<>();
    String after = null;
    do {
      int from = after == null ? 0 : places.indexOf(after) + 1;
      List<JsonNode> answers =
          IntStream.range(0, 3)
              .mapToObj(shard ->
                  paged
                      .page()
                      .apply(
                          all.stream()
                              .skip(from)
                              .filter(each -> shard(each) == shard)
                              .limit(LIMIT)
                              .toList()))
              .toList();
      JsonNode page = merged(paged.route(), paged.query() + "limit=" + LIMIT, answers);
      paged.elements().apply(page).forEach(seen::add);
      after = paged.cursor().apply(page);
    } while (after != null);
    assertThat(seen).isEqualTo(all);
  }

  /** The last shard has few. */
  private static int shard(ObjectNode element) {
    int number = Integer.parseInt(element.required("id").asString());
    return number % 10 == 9 ? 2 : number / 3 % 2;
  }

  @Test
  void nodes_of_graphs_are_read_shard_after_shard() {
    List<String> seen = new ArrayList<>();
    JsonNode page =
        NodePages.first(
            List.of(
                json("[{'id':'3'}]"),
                json("{'nodes':[{'id':'1'}],'pagination':{'next':'1000','pid':'ab-1'}}"),
                json("[{'id':'2'}]")),
            false);
    page.required("nodes").forEach(node -> seen.add(node.required("id").asString()));
    NodePages.Place second = place(page);
    assertThat(second).isEqualTo(new NodePages.Place(1, "1000", "ab-1"));
    page =
        NodePages.next(
            second, json("{'nodes':[{'id':'4'}],'pagination':{'next':null,'pid':'ab-1'}}"), 3);
    page.required("nodes").forEach(node -> seen.add(node.required("id").asString()));
    NodePages.Place third = place(page);
    assertThat(third).isEqualTo(new NodePages.Place(2, "", ""));
    page =
        NodePages.next(
            third, json("{'nodes':[{'id':'2'}],'pagination':{'next':null,'pid':'x'}}"), 3);
    page.required("nodes").forEach(node -> seen.add(node.required("id").asString()));
    assertThat(page.required("pagination").required("next").isNull()).isTrue();
    assertThat(seen).containsExactly("3", "1", "4", "2");
  }

  private static NodePages.Place place(JsonNode page) {
    return NodePages.Place.of(page.required("pagination").required("next").asString(), 3);
  }

  @Test
  void nodes_that_fit_into_a_page_are_one_array() {
    List<JsonNode> answers = List.of(json("[{'id':'3'}]"), json("[]"), json("[{'id':'2'}]"));
    assertThat(NodePages.first(answers, false)).isEqualTo(json("[{'id':'3'},{'id':'2'}]"));
    assertThat(NodePages.first(answers, true))
        .isEqualTo(
            json("{'nodes':[{'id':'3'},{'id':'2'}],'pagination':{'next':null,'pid':'shards'}}"));
    for (String wrong : List.of("3..", "0.x.", "1000", "0.1.ü", ".1.x", "-1..")) {
      assertThatThrownBy(() -> NodePages.Place.of(wrong, 3))
          .as(wrong)
          .isInstanceOf(HttpProblem.class);
    }
  }

  // ---- searches

  private static MergedSearch search(String input) {
    return Objects.requireNonNull(MergedSearch.of(new Input(json(input).asObject(), false), false));
  }

  /** A task with 24 digits. */
  private static ObjectNode task(int number, String more) {
    ObjectNode task = Json.object();
    task.putObject("_id").put("$oid", "%024d".formatted(number));
    return task.setAll(json(more).asObject());
  }

  /** What a shard with so many tasks answers. */
  private static JsonNode page(int tasks, JsonNode body) {
    JsonNode options = body.required("options");
    int skip = options.required("skip").asInt();
    return Json.array(
        IntStream.range(skip, Math.min(tasks, skip + options.required("limit").asInt()))
            .boxed()
            .toList(),
        i -> task(i, "{}"));
  }

  @Test
  void a_search_goes_no_further_than_it_may() throws Exception {
    assertThat(
            search("{'options': {'skip': 1999, 'limit': 1}}")
                .answer(body -> List.of(page(3_000, body))))
        .isEqualTo(json("[{'_id': {'$oid': '000000000000000000001999'}}]"));
    for (String input :
        List.of(
            "{'options': {'skip': 2000, 'limit': 1}}",
            "{'options': {'skip': 2147483647, 'limit': 100}}",
            "{'count': true, 'archived': true}",
            "{'count': true, 'filter': {'$and': [{'_id': 'x'}]}}")) {
      assertThatThrownBy(() -> search(input).answer(body -> List.of(page(3_000, body))))
          .as(input)
          .isInstanceOf(HttpProblem.class)
          .hasMessageContaining("name one shard");
    }
    assertThat(search("{'options': {'skip': 2147483647}}").answer(body -> List.of(page(150, body))))
        .isEmpty();
  }

  @Test
  void a_task_in_an_archive_that_shards_share_counts_once() throws Exception {
    JsonNode archived = Json.array().add(task(1, "{'status':2,'archived':true}"));
    JsonNode live = Json.array().add(task(1, "{'status':1}")).add(task(2, "{'status':0}"));
    assertThat(search("{'archived': true}").answer(_ -> List.of(archived, live, archived)))
        .isEqualTo(live);
    assertThat(
            search("{'archived': true, 'count': true}")
                .answer(_ -> List.of(archived, live, archived)))
        .hasToString("{\"count\":2}");
    assertThat(
            search("{'archived': true, 'options': {'projection': {'status': 1, '_id': 0}}}")
                .answer(_ -> List.of(archived)))
        .isEqualTo(json("[{'status': 2, 'archived': true}]"));
  }

  @Test
  void shards_are_asked_for_what_the_order_needs() throws Exception {
    List<JsonNode> asked = new ArrayList<>();
    JsonNode _ =
        search(
                "{'pretty': 1, 'stale': '1s', 'options': {'sort': {'params.a': 1, 'ctime': -1},"
                    + " 'projection': {'_id': 0, 'params.a': 0, 'stdout': 0}, 'skip': 3, 'limit':"
                    + " 7}}")
            .answer(body -> {
              asked.add(body);
              return List.of(Json.array());
            });
    assertThat(asked)
        .containsExactly(
            json(
                "{'options': {'sort': {'params.a': 1, 'ctime': -1}, 'projection': {'stdout': 0},"
                    + " 'skip': 0, 'limit': 10}}"));
  }
}
