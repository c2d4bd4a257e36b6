package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import io.millrace.queues.node.ExecutionNode;
import java.util.Locale;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With the configuration of loggers that the program comes with. */
class LogLevelTest {
  private final LoggerContext context = new LoggerContext();
  private final Logger node = context.getLogger(ExecutionNode.class);
  private final Logger other = context.getLogger("org.example.Library");

  @BeforeEach
  void configure() throws Exception {
    context.putProperty("millrace.log", "INFO");
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(
        Objects.requireNonNull(LogLevelTest.class.getResource("/logback.xml")));
  }

  @AfterEach
  void stop() {
    context.stop();
  }

  @ParameterizedTest
  @ValueSource(strings = {"error", "warn", "info", "debug", "trace"})
  void a_stored_level_holds_for_what_millrace_logs_and_for_nothing_else(String level) {
    new LocalNode.LogLevel(context).set(level);

    assertThat(node.getEffectiveLevel()).hasToString(level.toUpperCase(Locale.ROOT));
    assertThat(other.getEffectiveLevel()).isEqualTo(Level.WARN);
  }

  @Test
  void without_a_stored_level_it_is_that_of_the_start_again() {
    LocalNode.LogLevel level = new LocalNode.LogLevel(context);
    level.set("error");
    assertThat(node.isWarnEnabled()).isFalse();

    level.set(null);

    assertThat(node.getEffectiveLevel()).isEqualTo(Level.INFO);
  }
}
