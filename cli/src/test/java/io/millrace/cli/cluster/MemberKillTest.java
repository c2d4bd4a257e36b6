package io.millrace.cli.cluster;

import io.millrace.cli.queues.Program;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Members that are killed and stopped, on what needs nothing else to be started. */
final class MemberKillTest {
  @TempDir private Path root = Path.of("");

  @Test
  void on_flat_files_every_file_is_hashed_and_late_lines_are_refused()
      throws IOException, InterruptedException {
    MemberKills.run(root, DocumentsFixture.at("file:" + root.resolve("documents")));
  }

  @Test
  @EnabledIfSystemProperty(named = "millrace.memberkills", matches = "all")
  void on_the_store_every_file_is_hashed_and_late_lines_are_refused()
      throws IOException, InterruptedException {
    Program.Ready server =
        Program.startReady(
            root.resolve("server.log"),
            List.of("up", "--no-node", "--data", root.resolve("server").toString(), "--port", "0"));
    String greeting = server.line();
    int from = greeting.indexOf("http://");
    try {
      MemberKills.run(
          root,
          DocumentsFixture.at("store:" + greeting.substring(from, greeting.indexOf(' ', from))));
    } finally {
      server.program().kill();
    }
  }
}
