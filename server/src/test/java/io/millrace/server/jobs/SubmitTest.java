package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.http.json.Json;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.work.Step;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Submission, and every way to get it wrong. */
final class SubmitTest {
  private static final String SUBMIT = "/api/jobs/submit";

  @TempDir private Path folder;
  private ApiServer server;

  @BeforeEach
  void start() {
    server = new ApiServer(folder);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void refused(HttpResponse<String> answer, String... parts) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
    JsonNode body = Json.MAPPER.readTree(answer.body());
    assertThat(body.get("problem").asString()).contains(parts);
    assertThat(body.get("error")).isEqualTo(body.get("problem"));
    assertThat(server.blobCount()).isZero();
  }

  @Test
  void a_repeated_request_is_a_duplicate_also_of_a_job_that_is_gone() throws Exception {
    String[] fields = {"Priority", "batch", "RequestId", "r-1", "Payload", "abc"};
    String[] large = {"Priority", "batch", "RequestId", "r-2", "Payload", "x".repeat(10_000)};
    for (String[] form : List.of(fields, large)) {
      JsonNode first = Json.MAPPER.readTree(server.submit(SUBMIT, form).body());
      assertThat(first.has("duplicate")).isFalse();
      HttpResponse<String> again = server.submit(SUBMIT, form);
      assertThat(again.statusCode()).isEqualTo(202);
      assertThat(Json.MAPPER.readTree(again.body()).get("id")).isEqualTo(first.get("id"));
      assertThat(Json.MAPPER.readTree(again.body()).get("duplicate").asBoolean()).isTrue();

      assertThat(server.jobs.registry().delete(first.get("id").asString())).isPresent();
      HttpResponse<String> late = server.submit(SUBMIT, form);
      assertThat(late.statusCode()).isEqualTo(202);
      assertThat(Json.MAPPER.readTree(late.body()).get("id")).isEqualTo(first.get("id"));
      assertThat(server.jobs.registry().list(JobRegistry.JobFilter.ALL, null, 10)).isEmpty();
    }
    refused(
        server.submit(SUBMIT, "Priority", "batch", "RequestId", "r".repeat(129), "Payload", "abc"),
        "1 to 128 characters");
  }

  @Test
  void a_job_is_taken_with_fields_in_any_case_and_order() throws Exception {
    HttpResponse<String> answer =
        server.submit(
            SUBMIT, "KEY", "über/1", "payload", "abc", "priority", "Immediate", "Description", "d");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
    JsonNode body = Json.MAPPER.readTree(answer.body());
    assertThat(body.get("created").asString()).isEqualTo("über/1");
    Job job = server.jobs.registry().find(body.get("id").asString()).orElseThrow();
    assertThat(job.key()).isEqualTo("über/1");
    assertThat(server.json("/api/jobs/%C3%BCber%2F1").get("display").asString()).isEqualTo("d");
    assertThat(server.get("/api/jobs/%C3%BCber%2F1/payload").body()).isEqualTo("abc");
  }

  @Test
  void without_a_key_the_guid_stands_in_its_place() throws Exception {
    JsonNode body =
        Json.MAPPER.readTree(server.submit(SUBMIT, "Payload", "", "Priority", "batch").body());
    assertThat(body.get("created")).isEqualTo(body.get("id"));
    assertThat(server.get("/api/jobs/" + body.get("id").asString() + "/payload").body()).isEmpty();
  }

  @Test
  void a_long_payload_goes_to_a_blob_and_is_served_in_ranges() throws Exception {
    String payload = "0123456789".repeat(100_000);
    assertThat(
            server.submit(SUBMIT, "Payload", payload, "Priority", "batch", "Key", "k").statusCode())
        .isEqualTo(202);
    assertThat(server.blobCount()).isEqualTo(1);
    assertThat(server.get("/api/jobs/k/payload").body()).isEqualTo(payload);
    HttpResponse<String> part = server.get("/api/jobs/k/payload", "Range", "bytes=999990-");
    assertThat(part.statusCode()).isEqualTo(206);
    assertThat(part.body()).isEqualTo("0123456789");
    assertThat(part.headers().firstValue("Content-Range")).contains("bytes 999990-999999/1000000");
    assertThat(server.get("/api/jobs/k/payload", "Range", "bytes=1000000-").statusCode())
        .isEqualTo(416);
  }

  @Test
  void what_is_missing_or_unknown_is_named() throws Exception {
    refused(server.submit(SUBMIT, "Priority", "batch"), "no field Payload");
    refused(server.submit(SUBMIT, "Payload", "x"), "no field Priority");
    refused(server.submit(SUBMIT, "Payload", "x", "Priority", "soon"), "soon", "immediate");
    refused(
        server.submit(SUBMIT, "Payload", "x", "Priority", "batch", "Kye", "k"),
        "unknown field kye",
        "Key");
    refused(
        server.submit(SUBMIT, "Priority", "batch", "Priority", "batch", "Payload", "x"),
        "several fields priority");
  }

  @Test
  void a_refused_submission_leaves_no_blob() throws Exception {
    String payload = "x".repeat(10_000);
    refused(
        server.submit(SUBMIT, "Payload", payload, "Payload", payload, "Priority", "batch"),
        "several fields Payload");
    refused(server.submit(SUBMIT, "Payload", payload, "Priority", "soon"), "soon");
    refused(
        server.submit(
            SUBMIT, "Payload", payload, "Priority", "batch", "Description", "d".repeat(129)),
        "129 characters");
    refused(
        server.submit(
            SUBMIT,
            "Payload",
            payload,
            "Priority",
            "batch",
            "Key",
            "6b025056-8aa4-4a10-8900-000000000000"),
        "GUID");
  }

  @Test
  void characters_of_a_description_are_counted_as_people_see_them() throws Exception {
    String faces = "\uD83D\uDE00".repeat(128);
    assertThat(
            server
                .submit(
                    SUBMIT, "Payload", "x", "Priority", "batch", "Key", "f", "Description", faces)
                .statusCode())
        .isEqualTo(202);
    assertThat(server.json("/api/jobs/f").path("display").asString()).isEqualTo(faces);
  }

  @Test
  void a_repeated_key_is_refused_before_and_behind_the_payload() throws Exception {
    assertThat(server.submit(SUBMIT, "Payload", "x", "Priority", "batch", "Key", "k").statusCode())
        .isEqualTo(202);
    String payload = "x".repeat(10_000);
    refused(server.submit(SUBMIT, "Key", "k", "Payload", payload, "Priority", "batch"), "key", "k");
    refused(server.submit(SUBMIT, "Payload", payload, "Priority", "batch", "Key", "k"), "key", "k");
  }

  private JsonNode accepted(String... fields) throws Exception {
    HttpResponse<String> answer = server.submit(SUBMIT, fields);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
    return Json.MAPPER.readTree(answer.body());
  }

  @Test
  void a_duplicate_is_answered_with_the_job_that_holds_the_key() throws Exception {
    JsonNode first = accepted("Priority", "batch", "Key", "k", "Payload", "x", "unique", "u");
    assertThat(first.has("duplicate")).isFalse();
    String id = first.path("id").asString();
    for (String payload : List.of("y", "y".repeat(10_000))) {
      JsonNode second =
          accepted("Priority", "batch", "Key", "k", "Unique", "u", "Payload", payload);
      assertThat(second)
          .isEqualTo(Json.object().put("created", "k").put("id", id).put("duplicate", true));
      assertThat(server.blobCount()).isZero();
    }
    JsonNode job = server.json("/api/jobs/k");
    assertThat(job.path("unique").asString()).isEqualTo("u");
    refused(
        server.submit(SUBMIT, "Priority", "batch", "Payload", "x", "unique_scope", "soon"),
        "unique_scope");
    refused(
        server.submit(SUBMIT, "Priority", "batch", "Payload", "x", "unique_fields", "a"),
        "JSON object");
    refused(
        server.submit(
            SUBMIT, "Priority", "batch", "Payload", "x".repeat(10_000), "unique_fields", "a"),
        "JSON object");
    refused(
        server.submit(SUBMIT, "Priority", "batch", "Payload", "x", "unique", "k".repeat(257)),
        "unique");
  }

  @Test
  void a_job_that_nobody_takes_in_time_has_failed_for_the_reason_that_names_the_limit()
      throws Exception {
    accepted("Priority", "batch", "Key", "k", "Payload", "x", "wait_timeout", "1ms");
    Step timeouts = server.jobs.timeouts();
    timeouts.step(Instant.now().plusSeconds(1));
    assertThat(server.json("/api/jobs/k").path("status").asString()).isEqualTo("failed");
    assertThat(server.json("/api/jobs/k/failures").get(0).path("info").asString())
        .isEqualTo("it waited longer than its wait_timeout of 1ms");
    accepted("Priority", "batch", "Key", "l", "Payload", "x", "total_timeout", "1h");
    assertThat(server.json("/api/jobs/l").path("total_timeout").asString()).isEqualTo("1h");
    assertThat(server.json("/api/jobs/l").has("deadline")).isTrue();
    refused(server.submit(SUBMIT, "Priority", "batch", "Payload", "x", "timeout", "0s"), "timeout");
  }

  @Test
  void of_submissions_with_one_key_at_the_same_moment_one_makes_a_job() throws Exception {
    List<Callable<String>> calls = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      // Short ones share commits, long ones come on threads of their own.
      String payload = "x".repeat(i % 2 == 0 ? 10 : 10_000);
      calls.add(() ->
          accepted("Priority", "batch", "unique", "u", "Payload", payload).path("id").asString());
    }
    Set<String> ids = new HashSet<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<String> each : threads.invokeAll(calls)) {
        ids.add(each.get());
      }
    }
    assertThat(ids).hasSize(1);
    assertThat(server.json("/api/jobs").size()).isEqualTo(1);
    assertThat(server.blobCount()).isLessThanOrEqualTo(1);
  }

  @Test
  void a_payload_over_the_limit_is_413() throws Exception {
    HttpResponse<String> answer =
        server.submit(SUBMIT, "Priority", "batch", "Payload", "x".repeat((4 << 20) + 1));
    assertThat(answer.statusCode()).isEqualTo(413);
    assertThat(server.blobCount()).isZero();
  }

  @Test
  void what_is_no_form_is_refused() throws Exception {
    refused(server.post(SUBMIT, "{}", "Content-Type", "application/json"), "multipart/form-data");
    refused(server.post(SUBMIT, "x", "Content-Type", "multipart/form-data"), "malformed");
    refused(server.form(SUBMIT, BodyPublishers.noBody()), "no field Payload");
    refused(server.form(SUBMIT, BodyPublishers.ofString("no boundary")), "no field Payload");
    String whole = ApiServer.form("Priority", "batch", "Payload", "x".repeat(20_000));
    refused(
        server.form(SUBMIT, BodyPublishers.ofString(whole.substring(0, whole.length() - 500))),
        "malformed");
    refused(
        server.form(
            SUBMIT,
            BodyPublishers.ofByteArray(
                ApiServer.form("Payload", "x", "Priority", "b", "Key", "\u00ff")
                    .getBytes(StandardCharsets.ISO_8859_1))),
        "must be");
  }

  @Test
  void a_job_has_a_key_for_limits_and_a_level_of_priority() throws Exception {
    server.submit(
        SUBMIT,
        "Payload",
        "x",
        "Priority",
        "batch",
        "Key",
        "k",
        "limit_key",
        "ann",
        "priority_level",
        "7");
    JsonNode job = server.json("/api/jobs/k");
    assertThat(job.get("key").asString()).isEqualTo("k");
    assertThat(job.get("priority").asString()).isEqualTo("batch");
    assertThat(job.get("limit_key").asString()).isEqualTo("ann");
    assertThat(job.get("priority_level").asInt()).isEqualTo(7);
    refused(
        server.submit(SUBMIT, "Payload", "x", "Priority", "batch", "priority_level", "10"),
        "priority must be an integer from 0 to 9");
    refused(
        server.submit(SUBMIT, "Payload", "x", "Priority", "batch", "key_running", "1"),
        "unknown field key_running");
  }

  @Test
  void a_type_is_wanted_exactly_where_there_are_types() throws Exception {
    refused(server.submit(SUBMIT + "/resize", "Payload", "x", "Priority", "batch"), "no job types");
    try (ApiServer typed =
        new ApiServer(
            folder.resolve("typed"),
            "jobs.types.resize.description",
            "Makes it small",
            "jobs.types.decode.result-becomes",
            "resize")) {
      assertThat(typed.submit(SUBMIT, "Payload", "x", "Priority", "batch").body())
          .contains("resize")
          .contains("decode");
      assertThat(typed.submit(SUBMIT + "/other", "Payload", "x", "Priority", "batch").statusCode())
          .isEqualTo(400);
      assertThat(typed.submit(SUBMIT + "/resize", "Payload", "x", "Priority", "batch").statusCode())
          .isEqualTo(202);
      assertThat(typed.json("/api/jobs").get(0).get("type").asString()).isEqualTo("resize");
      assertThat(typed.json("/api/types").toString())
          .contains("\"resultBecomes\":\"resize\"")
          .contains("Makes it small");
    }
  }

  @Test
  void settings_of_a_type_are_set_changed_and_taken_back() throws Exception {
    try (ApiServer typed =
        new ApiServer(folder.resolve("typed"), "jobs.types.resize.settings", "running=2")) {
      String path = "/api/types/resize";
      assertThat(send(typed, "PUT", path, "{\"running\": 5, \"starts\": \"9/1m\"}").statusCode())
          .isEqualTo(200);
      HttpResponse<String> changed =
          send(typed, "PATCH", path, "{\"starts\": null, \"priority\": 3}");
      assertThat(changed.body())
          .contains("\"settings\":{\"priority\":\"3\",\"running\":\"5\"}")
          .contains("\"set\":{\"priority\":\"3\",\"running\":\"5\"}");
      assertThat(typed.json("/api/types").get(0)).isEqualTo(typed.json(path));
      assertThat(send(typed, "PUT", path, "{}").body()).contains("\"set\":{}");
      send(typed, "PATCH", path, "{\"running\": 7}");
      assertThat(send(typed, "DELETE", path, "").body())
          .contains("\"settings\":{\"running\":\"2\"},\"set\":{}");
      for (String wrong :
          List.of(
              "[]", "{\"speed\":1}", "{\"running\":0}", "{\"running\":[1]}", "{\"key\":\"a\"}")) {
        assertThat(send(typed, "PATCH", path, wrong).statusCode()).as(wrong).isEqualTo(400);
      }
      assertThat(send(typed, "PATCH", "/api/types/other", "{}").statusCode()).isEqualTo(404);
      assertThat(send(typed, "PATCH", "/api/types/-", "{}").statusCode()).isEqualTo(404);
    }
    assertThat(send(server, "PUT", "/api/types/-", "{\"running\": 5}").body())
        .contains("\"name\":\"-\"", "\"set\":{\"running\":\"5\"}");
  }

  private static HttpResponse<String> send(ApiServer to, String method, String path, String body)
      throws Exception {
    return to.send(method, path, BodyPublishers.ofString(body), "Content-Type", "application/json");
  }
}
