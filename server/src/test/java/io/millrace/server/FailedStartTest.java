package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.StoreException;
import org.junit.jupiter.api.Test;

/** A server that does not come up leaves its store closed. */
final class FailedStartTest {
  private final FakeStore store = new FakeStore();

  @Test
  void an_error_closes_the_store_as_well() {
    Error error = new NoClassDefFoundError("gone");
    assertThatThrownBy(() -> start(error)).isSameAs(error);
    assertThat(store.closed).isTrue();
  }

  private void start(Error error) {
    MillraceServer.orClose(
        store,
        () -> {
          throw error;
        });
  }

  @Test
  void a_store_that_cannot_be_closed_does_not_hide_why_the_start_failed() {
    StoreException closing = new StoreException("cannot close");
    FakeStore stubborn =
        new FakeStore() {
          @Override
          public void close() {
            throw closing;
          }
        };
    Error error = new NoClassDefFoundError("gone");
    assertThatThrownBy(() ->
            MillraceServer.orClose(
                stubborn,
                () -> {
                  throw error;
                }))
        .isSameAs(error)
        .hasSuppressedException(closing);
  }
}
