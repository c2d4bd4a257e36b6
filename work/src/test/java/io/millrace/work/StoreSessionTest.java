package io.millrace.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class StoreSessionTest {
  private static final String NUMBERS = "numbers";
  private static final DocumentKey COUNT = new DocumentKey(NUMBERS, "count");

  private static final class RefusedByTest extends RuntimeException {
    private static final long serialVersionUID = 1;

    RefusedByTest(String message) {
      super(message);
    }
  }

  private static final class Session extends StoreSession {
    Session(TaskStore store, long seed) {
      super(store, new Random(seed));
    }

    @Override
    protected RuntimeException refused(Reason reason) {
      return new RefusedByTest(reason.kind().name());
    }

    @Override
    protected RuntimeException contended(String message) {
      return new RefusedByTest(message);
    }
  }

  private final TaskStore store;
  private final StoreSession session;

  StoreSessionTest(@TempDir Path folder) {
    store = TaskStore.open(StoreOptions.in(folder).withJournaling(Journaling.OPPORTUNISTIC));
    session = new Session(store, 1);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private Transaction put(DocumentKey key, long version, String text) {
    return session.begin().put(key, version, Bytes.of(text)).build();
  }

  @Test
  void a_conflict_is_an_answer_and_asks_for_another_attempt() {
    assertThat(session.tryCommit(put(COUNT, DocumentVersion.ABSENT, "1"))).isNotNull();
    Transaction again = put(COUNT, DocumentVersion.ABSENT, "1");
    assertThat(session.tryCommit(again)).isNull();
    assertThat(session.commit(again)).isInstanceOf(Outcome.Refused.class);
  }

  @Test
  void what_the_store_never_takes_is_an_exception_of_the_layer() {
    String large = "x".repeat(Math.toIntExact(Limits.defaults().dataBytes()) + 1);
    assertThatThrownBy(() -> session.commit(put(COUNT, DocumentVersion.ANY, large)))
        .isInstanceOf(RefusedByTest.class)
        .hasMessage("TOO_LARGE");
  }

  @Test
  void attempts_go_on_until_nothing_came_in_between() {
    session.tryCommit(put(COUNT, DocumentVersion.ABSENT, "0"));
    AtomicInteger attempts = new AtomicInteger();
    Optional<Long> version =
        session.retry(
            "the count",
            () -> session.document(COUNT),
            found -> {
              if (attempts.incrementAndGet() < 3) {
                session.tryCommit(put(COUNT, found.version(), "another"));
              }
              Outcome.Done done = session.tryCommit(put(COUNT, found.version(), "mine"));
              return done == null ? null : done.documents().getFirst().version();
            });
    assertThat(attempts).hasValue(3);
    assertThat(session.document(COUNT).map(Document::version)).isEqualTo(version);
    assertThat(session.document(COUNT).map(found -> found.body().utf8())).hasValue("mine");
  }

  @Test
  void a_change_of_what_is_not_there_is_empty() {
    assertThat(session.retry("the count", () -> session.document(COUNT), Document::version))
        .isEmpty();
  }

  @Test
  void attempts_have_an_end() {
    assertThatThrownBy(() -> session.<String>retry("the count", () -> null))
        .isInstanceOf(RefusedByTest.class)
        .hasMessage("the count changes too fast; it was tried 100 times");
  }

  @Test
  void sessions_have_client_ids_of_their_own() {
    StoreSession other = new Session(store, 2);
    assertThat(other.self()).isNotEqualTo(session.self());
    assertThat(session.newClient()).isNotEqualTo(session.newClient());
  }

  @Test
  void pages_bring_every_document_once_and_in_order() {
    Transaction.Builder many = session.begin();
    List<String> keys = new ArrayList<>();
    for (int i = 1_000; i < 3_001; i++) {
      keys.add("k" + i);
      many.put(new DocumentKey(NUMBERS, "k" + i), DocumentVersion.ABSENT, Bytes.of("x"));
    }
    session.commit(many.build());
    assertThat(session.pages(NUMBERS)).extracting(it -> it.key().key()).isEqualTo(keys);
    assertThat(session.pages(NUMBERS, "k2", "k2997"))
        .extracting(it -> it.key().key())
        .containsExactly("k2998", "k2999");
    assertThat(session.all(NUMBERS)).hasSize(keys.size());
  }

  @Test
  void a_scan_keeps_the_order_and_looks_at_no_more_of_the_first_page_than_needed() {
    Transaction.Builder many = session.begin();
    for (int i = 1_000; i < 9_000; i++) {
      many.put(new DocumentKey(NUMBERS, "k" + i), DocumentVersion.ABSENT, Bytes.of("" + i));
    }
    session.commit(many.build());
    DocumentQuery newest = new DocumentQuery(NUMBERS, "", "", 1_000, Order.DESCENDING);
    AtomicInteger looks = new AtomicInteger();
    StoreSession.Scan<Integer> sevens =
        session.scan(
            newest,
            6_500,
            document -> {
              looks.incrementAndGet();
              int number = Integer.parseInt(document.body().utf8());
              return number % 7 == 0 ? number : null;
            });

    assertThat(sevens.next()).isEqualTo(8_995);
    assertThat(looks).hasValueBetween(5, 20);
    List<Integer> others = new ArrayList<>();
    sevens.forEachRemaining(others::add);
    assertThat(others)
        .isEqualTo(
            IntStream.rangeClosed(2_500, 8_994)
                .filter(number -> number % 7 == 0)
                .boxed()
                .toList()
                .reversed());
    assertThat(sevens.isWhole()).isFalse();
    StoreSession.Scan<Document> all = session.scan(newest, Long.MAX_VALUE, document -> document);
    all.forEachRemaining(document -> assertThat(document.key().collection()).isEqualTo(NUMBERS));
    assertThat(all.isWhole()).isTrue();
  }
}
