package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.plugin.PluginFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FoundPluginsTest {
  private final Path path;
  private final FoundPlugins plugins;
  private Duration time = Duration.ZERO;
  private Duration look = Duration.ZERO;

  FoundPluginsTest(@TempDir Path path) {
    this.path = path;
    this.plugins = new FoundPlugins(new PluginFolder(path), this::nanos);
  }

  /** Each look at the clock finds the time of a look at the folder gone by. */
  private long nanos() {
    time = time.plus(look);
    return time.toNanos();
  }

  @Test
  void a_small_folder_is_looked_at_every_time() throws Exception {
    String before = plugins.mark();
    Files.writeString(path.resolve("new"), "x");
    assertThat(plugins.mark()).isNotEqualTo(before);
  }

  @Test
  void a_folder_that_takes_long_to_look_at_is_looked_at_more_rarely() throws Exception {
    look = Duration.ofMillis(50);
    String before = plugins.mark();
    Files.writeString(path.resolve("new"), "x");
    time = time.plusSeconds(4);
    assertThat(plugins.mark()).isEqualTo(before);
    time = time.plusSeconds(1);
    assertThat(plugins.mark()).isNotEqualTo(before);
  }

  @Test
  void no_folder_rests_for_longer_than_ten_seconds() throws Exception {
    look = Duration.ofHours(1);
    String before = plugins.mark();
    Files.writeString(path.resolve("new"), "x");
    look = Duration.ZERO;
    time = time.plusSeconds(10);
    assertThat(plugins.mark()).isNotEqualTo(before);
  }
}
