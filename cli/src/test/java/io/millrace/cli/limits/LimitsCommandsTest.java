package io.millrace.cli.limits;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.QueueFixture;
import io.millrace.queues.Queue;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class LimitsCommandsTest {
  @TempDir private Path scratch = Path.of("");
  private QueueFixture site;

  @BeforeEach
  void open() {
    site = new QueueFixture(scratch.resolve("data"));
    var _ = site.queues().queues().create("work", "shell", Queue.Settings.DEFAULTS);
  }

  @AfterEach
  void close() {
    site.close();
  }

  private String done(String... arguments) {
    Shell.CommandResult ran = site.run(arguments);
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out();
  }

  @Test
  void a_limit_is_set_shown_with_its_queues_and_deleted() {
    assertThat(done("limits", "set", "gpu", "--running", "4", "--starts", "100/1m"))
        .isEqualTo("set limit gpu\n");
    done("queues", "set", "work", "--limits", "gpu", "--key-running", "2", "--starts", "5/1s");
    assertThat(JsonMapper.shared().readTree(done("limits", "show", "gpu", "--json")).toString())
        .isEqualTo(
            "{\"name\":\"gpu\",\"running\":4,\"starts\":\"100/1m\",\"used\":0,"
                + "\"queues\":[\"work\"],\"types\":[],\"nodes\":0}");
    assertThat(done("limits", "list")).contains("gpu", "100/1m", "work");
    assertThat(done("queues", "show", "work")).contains("key_running", "5/1s", "gpu");
    assertThat(done("limits", "delete", "gpu")).isEqualTo("gpu  is deleted\n");
    assertThat(site.run("limits", "show", "gpu").code()).isEqualTo(4);
    done("queues", "set", "work", "--limits", "default", "--starts", "default");
    assertThat(done("queues", "show", "work")).doesNotContain("5/1s");
  }

  @Test
  void what_cannot_be_is_refused_and_named() {
    for (List<String> wrong :
        List.of(
            List.of("limits", "set", "gpu"),
            List.of("limits", "set", "gpu", "--running", "x"),
            List.of("limits", "set", "gpu", "--running", "0"),
            List.of("limits", "set", "gpu", "--starts", "5"),
            List.of("limits", "set", "a b", "--running", "1"),
            List.of("queues", "set", "work", "--starts", "often"),
            List.of("queues", "set", "work", "--weights", "ann"),
            List.of("tasks", "submit", "work", "--priority", "10", "command=date"))) {
      Shell.CommandResult ran = site.run(wrong.toArray(String[]::new));
      assertThat(ran.code()).as(wrong.toString()).isNotZero();
      assertThat(ran.err())
          .as(wrong.toString())
          .isNotBlank()
          .doesNotContain("Exception", "Unmatched", "Unknown option");
    }
  }
}
