package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.millrace.processes.ProcessLauncher;
import io.millrace.queues.plugin.PluginFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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

  @Test
  void a_class_of_Perl_is_offered_once_it_can_be_loaded() throws Exception {
    assumeTrue(ProcessLauncher.program("perl").isPresent(), "perl is not installed");
    Files.writeString(path.resolve("Good.pm"), "package Good; sub new { } sub run { } 1;");
    Path bad = Files.writeString(path.resolve("Bad.pm"), "package Bad; sub new { } sub run {");

    String before = settled();
    assertThat(plugins.names()).contains("Good").doesNotContain("Bad");
    assertThat(plugins.has("Good")).isTrue();
    assertThat(plugins.has("Bad")).isFalse();

    Files.writeString(bad, "package Bad; sub new { } sub run { Missing::say() } 1;");
    assertThat(settled()).isNotEqualTo(before);
    assertThat(plugins.names()).contains("Good", "Bad");
    assertThat(plugins.has("Bad")).isTrue();
  }

  /** The mark when each class has been loaded, however long that takes on a busy machine. */
  private String settled() {
    String mark = plugins.mark();
    var _ = plugins.names();
    String next = plugins.mark();
    while (!next.equals(mark)) {
      var _ = plugins.names();
      mark = next;
      next = plugins.mark();
    }
    return mark;
  }

  @Test
  void a_class_of_Perl_that_cannot_be_loaded_is_tried_again_after_a_minute() throws Exception {
    assumeTrue(ProcessLauncher.program("perl").isPresent(), "perl is not installed");
    Path needed = path.resolve("needed");
    Files.writeString(
        path.resolve("Needs.pm"),
        "package Needs; -e '" + needed + "' or die; sub new { } sub run { } 1;");
    Path elsewhere = Files.createDirectory(path.resolve("elsewhere"));
    LocalNode.PolledPlugins polled =
        new LocalNode.PolledPlugins(
            new PluginFolder(elsewhere, List.of(path.resolve("lib"))), this::nanos);
    Files.move(
        path.resolve("Needs.pm"), Files.createDirectory(path.resolve("lib")).resolve("Needs.pm"));
    var _ = polled.mark();
    assertThat(polled.has("Needs")).isFalse();

    Files.createFile(needed);
    var _ = polled.mark();
    assertThat(polled.has("Needs")).isFalse();
    time = time.plusSeconds(61);
    while (!polled.has("Needs")) {
      var _ = polled.mark();
    }
    assertThat(polled.names()).contains("Needs");
  }
}
