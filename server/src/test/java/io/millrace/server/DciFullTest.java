package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.QueueSettings;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What the command interface says when the store has no room. */
final class DciFullTest {
  private static final String TASK = "{\"a\": \"" + "x".repeat(1_000) + "\"}";

  @Test
  void a_full_store_is_503_and_tells_what_was_created_before(@TempDir Path folder)
      throws Exception {
    try (Dci dci = new Dci(folder, "store.memory-budget-bytes", "10485760")) {
      dci.queues.queues().create("demo", "shell", QueueSettings.DEFAULTS);
      String many = "[" + String.join(",", Collections.nCopies(12_000, TASK)) + "]";

      HttpResponse<String> part = dci.send("POST", "/tasks/demo", Dci.JSON, many);

      assertThat(part.statusCode()).isEqualTo(503);
      assertThat(part.headers().firstValue("Retry-After")).contains("1");
      JsonNode answer = Dci.MAPPER.readTree(part.body());
      assertThat(answer.required("error").asString()).startsWith("the store is full: ");
      int created = answer.at("/MongoDB::InsertManyResult/inserted").size();
      assertThat(dci.post("/tasks/search", "{'count': true}").required("count").asInt())
          .isEqualTo(created)
          .isPositive();

      HttpResponse<String> nothing = dci.send("POST", "/tasks/demo", Dci.JSON, many);
      assertThat(nothing.statusCode()).isEqualTo(503);
      assertThat(nothing.body()).startsWith("{\"error\":\"the store is full: ");
      HttpResponse<String> old =
          dci.send(
              "POST",
              "/queue-create-tasks-json",
              Dci.JSON,
              "{\"queueid\": \"demo\", \"object\": " + many + "}");
      assertThat(old.statusCode()).isEqualTo(503);
      assertThat(dci.server().send("DELETE", "/dci/queues/demo", "").statusCode()).isEqualTo(200);
    }
  }
}
