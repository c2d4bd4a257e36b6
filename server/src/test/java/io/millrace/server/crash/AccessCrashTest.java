package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What a server answered about keys holds after it was killed. */
final class AccessCrashTest {
  private static final String TOKEN = "s3cret";
  private static final int ROUNDS = 2;

  @TempDir private Path folder;

  @BeforeEach
  void writeToken() throws IOException {
    Files.writeString(folder.resolve("token"), TOKEN);
  }

  private ServerProcess start() throws IOException {
    return ServerProcess.start(
        "",
        "-Xmx256m",
        "store.data",
        folder.resolve("store").toString(),
        "server.token-file",
        folder.resolve("token").toString());
  }

  private static JsonCalls as(ServerProcess server, String key) {
    return JsonCalls.open(ClientOptions.at(server.address()).withToken(key));
  }

  private static boolean opens(ServerProcess server, String key) {
    try (JsonCalls calls = as(server, key)) {
      var _ = calls.get("/store/groups");
      return true;
    } catch (RejectedException e) {
      assertThat(e.status()).isEqualTo(401);
      return false;
    }
  }

  /** Each change that was answered has its entry in the audit log, and each entry once. */
  private static void assertRecorded(JsonCalls owner, int rounds) {
    for (String action : List.of("principal.create", "key.create", "key.revoke")) {
      JsonNode entries = owner.get("/audit?result=done&action=" + action).path("entries");
      assertThat(entries).as(action).hasSize(rounds);
    }
  }

  @Test
  void a_key_counts_and_a_revoked_one_does_not_after_a_kill() throws Exception {
    List<String> kept = new ArrayList<>();
    List<String> revoked = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      try (ServerProcess server = start();
          JsonCalls owner = as(server, TOKEN)) {
        for (String key : kept) {
          assertThat(opens(server, key)).isTrue();
        }
        for (String key : revoked) {
          assertThat(opens(server, key)).isFalse();
        }
        assertRecorded(owner, round);
        ObjectNode principal = JsonNodeFactory.instance.objectNode().put("name", "p" + round);
        principal.putArray("roles").add("viewer");
        principal.putObject("key");
        kept.add(owner.post("/access/principals", principal).path("key").path("key").asString());
        String other =
            owner
                .post("/access/principals/p" + round + "/keys", principal.objectNode())
                .path("key")
                .asString();
        assertThat(opens(server, other)).isTrue();
        var _ = owner.delete("/access/keys/" + other.substring(3, 11));
        revoked.add(other);
      }
    }
    try (ServerProcess server = start();
        JsonCalls owner = as(server, TOKEN)) {
      assertRecorded(owner, ROUNDS);
      assertThat(kept).allMatch(key -> opens(server, key));
      assertThat(revoked).noneMatch(key -> opens(server, key));
    }
  }
}
