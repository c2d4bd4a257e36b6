package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.millrace.queues.plugin.PluginFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class PolledPluginsTest {
  private final Path path;
  private final LocalNode.PolledPlugins plugins;
  private Duration time = Duration.ZERO;
  private Duration look = Duration.ZERO;

  PolledPluginsTest(@TempDir Path path) {
    this.path = path;
    this.plugins = new LocalNode.PolledPlugins(new PluginFolder(path), this::nanos);
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
  void a_folder_that_does_not_exist_is_said_once_and_again_when_it_comes() throws Exception {
    Path late = path.resolve("late");
    LocalNode.PolledPlugins found =
        new LocalNode.PolledPlugins(new PluginFolder(late), this::nanos);
    Logger log = (Logger) LoggerFactory.getLogger(LocalNode.PolledPlugins.class);
    Level usual = log.getLevel();
    log.setLevel(Level.INFO);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    try {
      found.mark();
      found.mark();
      Files.createDirectory(late);
      found.mark();
      found.mark();
    } finally {
      log.detachAppender(lines);
      log.setLevel(usual);
    }
    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly(
            "the plugin folder " + late + " does not exist; only built-in plugins are found",
            "the plugin folder " + late + " exists now");
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
