package io.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.wire.ChangeStream;
import io.millrace.wire.DataForm;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class HttpSubscriptionTest {
  private static final Duration LONG = Duration.ofSeconds(10);

  private static Commit commit(int number) {
    return new Commit(new Position(10, number), 5, Owner.client(1), false, List.of());
  }

  private static void begin(OutputStream out, int at) throws IOException {
    write(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
            + ": hello\n\nevent: start\nid: a-"
            + at
            + "\ndata: {\"position\":\"a-"
            + at
            + "\",\"time\":5}\n\n");
  }

  private static void event(OutputStream out, String name, byte[] data) throws IOException {
    write(
        out,
        "event: " + name + "\r\ndata: " + new String(data, StandardCharsets.UTF_8) + "\r\n\r\n");
  }

  private static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  @Test
  void a_broken_stream_goes_on_after_the_last_commit() throws Exception {
    List<String> lines = Collections.synchronizedList(new ArrayList<>());
    try (ScriptedServer server =
            new ScriptedServer((request, out) -> {
              lines.add(request.line());
              int from = (request.number() - 1) * 2;
              begin(out, from);
              event(out, ChangeStream.COMMIT, ChangeStream.write(commit(from + 1), DataForm.TEXT));
              write(out, ": alive\n\n");
              event(out, ChangeStream.COMMIT, ChangeStream.write(commit(from + 2), DataForm.TEXT));
              write(out, "event: commit\ndata: {\"position\":\"a-");
              if (request.number() < 3) {
                ScriptedServer.hangUp(out);
              }
            });
        HttpTaskStore store = HttpTaskStore.open(server.address());
        Subscription subscription =
            store.subscribe(new Interest(null, Set.of("a b"), Set.of("c")))) {
      assertThat(subscription.start()).isEqualTo(new Position(10, 0));
      for (int i = 1; i <= 6; i++) {
        assertThat(subscription.next(LONG)).isEqualTo(commit(i));
      }
      assertThat(subscription.next(Duration.ZERO)).isNull();
      assertThat(lines)
          .containsExactly(
              "GET /store/changes?group=a%20b&collection=c HTTP/1.1",
              "GET /store/changes?after=a-2&group=a%20b&collection=c HTTP/1.1",
              "GET /store/changes?after=a-4&group=a%20b&collection=c HTTP/1.1");
    }
  }

  @Test
  void a_subscriber_that_stalls_stops_the_reading_by_bytes() throws Exception {
    Task large = new Task(1, 1, "g", 0, null, 0, 0, Bytes.copyOf(new byte[1 << 20]));
    List<Change> changes = List.of(new Change.Added(large));
    try (ScriptedServer server =
            new ScriptedServer((_, out) -> {
              begin(out, 0);
              for (int i = 1; i <= 20; i++) {
                Position position = new Position(10, i);
                Commit commit = new Commit(position, 5, Owner.client(1), false, changes);
                event(out, ChangeStream.COMMIT, ChangeStream.write(commit, DataForm.BASE64));
              }
            });
        HttpTaskStore store = HttpTaskStore.open(server.address());
        Subscription subscription = store.subscribe(Interest.everything())) {
      while (!((HttpSubscription) subscription).isFull()) {
        LockSupport.parkNanos(1_000_000);
      }
      for (int i = 1; i <= 20; i++) {
        Commit commit = Objects.requireNonNull(subscription.next(LONG));
        assertThat(commit.position().number()).isEqualTo(i);
        assertThat(commit.changes()).isEqualTo(changes);
      }
    }
  }

  @Test
  void a_lost_position_is_told_at_the_beginning_and_later() throws Exception {
    PositionLostException lost =
        new PositionLostException(
            PositionLostException.Why.TOO_SLOW, new Position(10, 1), "too slow");
    try (ScriptedServer server =
            new ScriptedServer((request, out) -> {
              if (request.line().contains("after=")) {
                write(out, "HTTP/1.1 200 OK\r\n\r\n");
              } else {
                begin(out, 0);
              }
              event(out, ChangeStream.LOST, ChangeStream.write(lost));
              ScriptedServer.hangUp(out);
            });
        HttpTaskStore store = HttpTaskStore.open(server.address())) {
      assertThatThrownBy(() -> store.subscribe(Interest.everything().after(new Position(10, 1))))
          .isInstanceOf(PositionLostException.class)
          .hasMessage("too slow");
      try (Subscription subscription = store.subscribe(Interest.everything())) {
        for (int i = 0; i < 2; i++) {
          assertThatThrownBy(() -> subscription.next(LONG))
              .isInstanceOfSatisfying(
                  PositionLostException.class,
                  e -> assertThat(e.why()).isEqualTo(PositionLostException.Why.TOO_SLOW));
        }
      }
    }
  }

  @Test
  void a_server_that_does_not_want_the_subscriber_says_so() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer(
                (_, out) -> ScriptedServer.json(out, 401, "", "{\"error\":\"who are you\"}"));
        HttpTaskStore store = HttpTaskStore.open(server.address())) {
      assertThatThrownBy(() -> store.subscribe(Interest.everything()))
          .isInstanceOf(RejectedException.class)
          .hasMessageContaining("who are you");
    }
  }

  @Test
  void closing_wakes_who_waits() throws Exception {
    try (ScriptedServer server = new ScriptedServer((_, out) -> begin(out, 0));
        HttpTaskStore store = HttpTaskStore.open(server.address())) {
      Subscription subscription = store.subscribe(Interest.everything());
      Thread closer = Thread.ofVirtual().start(subscription::close);
      assertThatThrownBy(() -> subscription.next(LONG)).isInstanceOf(StoreClosedException.class);
      closer.join();
      assertThatThrownBy(() -> subscription.next(LONG)).isInstanceOf(StoreClosedException.class);
    }
  }

  @Test
  void closing_the_store_ends_its_subscriptions() throws Exception {
    try (ScriptedServer server = new ScriptedServer((_, out) -> begin(out, 0))) {
      HttpTaskStore store = HttpTaskStore.open(server.address());
      Subscription subscription = store.subscribe(Interest.everything());
      store.close();
      assertThatThrownBy(() -> subscription.next(LONG)).isInstanceOf(StoreClosedException.class);
    }
  }
}
