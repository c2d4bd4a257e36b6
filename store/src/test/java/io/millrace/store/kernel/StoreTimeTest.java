package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Store time beside a wall clock that is wrong. */
class StoreTimeTest {
  @TempDir private Path folder;

  /** Opens the store with this clock, commits, and gives the warnings and how far it was ahead. */
  private Opened open(FixedEnvironment environment) {
    Logger logger = (Logger) LoggerFactory.getLogger(EmbeddedStore.class);
    ListAppender<ILoggingEvent> appender = new ListAppender<>();
    appender.start();
    logger.addAppender(appender);
    StoreOptions options = StoreOptions.in(folder).withEnvironment(environment);
    try (EmbeddedTaskStore store = TaskStore.open(options)) {
      store.commit(Transaction.by(Owner.client(1)).add("a", "b").build()).done();
      List<String> warnings =
          appender.list.stream()
              .filter(event -> event.getLevel() == Level.WARN)
              .map(ILoggingEvent::getFormattedMessage)
              .toList();
      return new Opened(warnings, store.timeAheadMillis());
    } finally {
      logger.detachAppender(appender);
    }
  }

  private record Opened(List<String> warnings, long aheadMillis) {}

  @Test
  void a_store_whose_journal_is_days_ahead_says_so_and_by_how_much() {
    FixedEnvironment wrong = new FixedEnvironment(1);
    wrong.advance(Duration.ofDays(3).toMillis());
    assertThat(open(wrong)).isEqualTo(new Opened(List.of(), 0));
    Opened opened = open(new FixedEnvironment(2));
    assertThat(opened.aheadMillis()).isEqualTo(Duration.ofDays(3).toMillis());
    assertThat(opened.warnings())
        .singleElement()
        .asString()
        .contains("store time is 3d ahead")
        .contains("2026-01-01T00:00:00Z")
        .contains("docs/api.md");
  }

  @Test
  void less_than_a_minute_is_not_worth_a_warning() {
    FixedEnvironment fast = new FixedEnvironment(1);
    fast.advance(EmbeddedTaskStore.TIME_MARGIN.toMillis());
    open(fast);
    assertThat(open(new FixedEnvironment(2)))
        .isEqualTo(new Opened(List.of(), EmbeddedTaskStore.TIME_MARGIN.toMillis()));
  }

  @Test
  void a_clock_that_has_caught_up_is_no_concern() {
    open(new FixedEnvironment(1));
    FixedEnvironment later = new FixedEnvironment(2);
    later.advance(Duration.ofDays(1).toMillis());
    assertThat(open(later)).isEqualTo(new Opened(List.of(), 0));
  }
}
