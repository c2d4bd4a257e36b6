package io.millrace.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import io.millrace.server.graph.Graphs;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What a server keeps on disk is for its user alone. */
final class PrivateFoldersTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void no_other_user_can_read_what_a_server_keeps() throws IOException, InterruptedException {
    Path blobs = folder.resolve("apart/blobs");
    Path store = folder.resolve("store");
    try (Graphs graphs = new Graphs(folder, "blobs.data", blobs.toString())) {
      TestServer server = graphs.server();
      server.post("/store/update", "{\"clientid\": 1, \"adds\": [{\"group\": \"g\"}]}");
      byte[] secret = "secret".getBytes(StandardCharsets.UTF_8);
      server.server().blobs().put("blob", new ByteArrayInputStream(secret));
      // The command itself sees the files of its attempt, which are removed when it has ended.
      String id =
          graphs.add(
              "shell command",
              "root",
              "{'command': 'cat; find %s -type f -exec ls -l {} +', 'stdin': ''}".formatted(store));
      graphs.get("/scheduler/wait?id=" + id);
      JsonNode seen = graphs.get("/nodes/" + id + "/data/stdout");
      assertThat(seen.required("data").asString().lines())
          .hasSizeGreaterThan(3)
          .anyMatch(line -> line.endsWith("stdin") || line.endsWith("identity"))
          .allMatch(line -> line.startsWith("-rw------- "));
      everythingIsPrivate(store);
      everythingIsPrivate(folder.resolve("apart"));
    }
    everythingIsPrivate(store);
  }

  private static void everythingIsPrivate(Path top) throws IOException {
    try (Stream<Path> files = Files.walk(top)) {
      assertThat(files)
          .hasSizeGreaterThan(2)
          .allSatisfy(file ->
              assertThat(
                      PosixFilePermissions.toString(
                          Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS)))
                  .as("permissions of %s", file)
                  .endsWith("------"));
    }
  }
}
