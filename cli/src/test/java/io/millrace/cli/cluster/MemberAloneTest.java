package io.millrace.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A member that was told nothing at all. */
final class MemberAloneTest {
  @TempDir private Path root = Path.of("");

  @Test
  void it_leads_and_works_alone_with_flat_files_in_the_working_folder()
      throws IOException, InterruptedException {
    Program.Ready ready = Program.startReady(root.resolve("log"), List.of("member"));
    Program member = ready.program();
    try {
      assertThat(ready.line())
          .matches("Millrace member \\S+ on file:millrace-cluster, 1 workers, lease 10000 ms, .*");
      String token = ready.line().split(" ", -1)[2];
      Await.until("it leads", () -> status().path("leader").asString("").equals(token));
      Await.until("it is listed", () -> status().path("members").size() == 1);
      assertThat(status().path("members").path(0).path("token").asString()).isEqualTo(token);
      assertThat(status().path("status").isArray()).isTrue();
      assertThat(member.stopped()).isZero();
      assertThat(status().path("leader").isNull()).isTrue();
      assertThat(status().path("members").isEmpty()).isTrue();
    } finally {
      member.kill();
    }
  }

  private JsonNode status() {
    Shell.CommandResult ran =
        Shell.run(
            "cluster",
            "status",
            "--json",
            "--documents",
            "file:" + root.resolve("millrace-cluster"));
    assertThat(ran.code()).as(ran.err()).isZero();
    return JsonMapper.shared().readTree(ran.out());
  }
}
