package io.millrace.cluster.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Concurrent changes: of those that name the same version at most one succeeds. */
public abstract class DocumentRacesContract extends DocumentsContractTopic {
  private static final int THREADS = 8;
  private static final int ROUNDS = 15;

  /** For subclasses. */
  protected DocumentRacesContract() {}

  /** What each thread does in a race. */
  private interface Runner<T> {
    T run(VersionedDocuments documents, int thread, int round) throws Exception;
  }

  /** Checks the results of a round. */
  private interface ResultCheck<T> {
    void check(int round, List<T> results);
  }

  private <T> void race(int rounds, Runner<T> runner, ResultCheck<T> check) throws Exception {
    List<VersionedDocuments> openings = List.of(fixture().open(), fixture().open());
    CyclicBarrier start = new CyclicBarrier(THREADS);
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int r = 0; r < rounds; r++) {
        int round = r;
        List<Callable<T>> calls = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
          int thread = t;
          calls.add(() -> {
            start.await();
            return runner.run(openings.get(thread % openings.size()), thread, round);
          });
        }
        List<T> results = new ArrayList<>();
        for (Future<T> result : threads.invokeAll(calls)) {
          results.add(result.get());
        }
        check.check(round, results);
      }
    }
  }

  @Test
  void of_many_writers_that_create_the_same_document_one_wins() throws Exception {
    this.<Optional<Version>>race(
        ROUNDS,
        (documents, thread, round) ->
            documents.put("key" + round, Version.NONE, says("thread " + thread)),
        (round, made) -> wonByOne("key" + round, made));
  }

  @Test
  void of_many_writers_that_replace_the_same_version_one_wins() throws Exception {
    List<Version> newest = new ArrayList<>(List.of(make("leader", says("begin"))));
    this.<Optional<Version>>race(
        ROUNDS,
        (documents, thread, _) ->
            documents.put("leader", newest.getLast(), says("thread " + thread)),
        (_, written) -> newest.add(wonByOne("leader", written)));
    assertThat(newest).doesNotHaveDuplicates();
  }

  private Version wonByOne(String key, List<Optional<Version>> results) {
    List<Integer> winners = new ArrayList<>();
    for (int thread = 0; thread < results.size(); thread++) {
      if (results.get(thread).isPresent()) {
        winners.add(thread);
      }
    }
    assertThat(winners).as("winners of %s", key).hasSize(1);
    Version version = results.get(winners.getFirst()).orElseThrow();
    holds(key, version, says("thread " + winners.getFirst()));
    return version;
  }

  @Test
  void of_many_writers_that_delete_or_replace_the_same_version_one_wins() throws Exception {
    List<Version> made = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      made.add(make("key" + round, says("begin")));
    }
    this.<Boolean>race(
        ROUNDS,
        (documents, thread, round) ->
            thread % 2 == 0
                ? documents.delete("key" + round, made.get(round))
                : documents
                    .put("key" + round, made.get(round), says("thread " + thread))
                    .isPresent(),
        (_, done) -> assertThat(done).containsOnlyOnce(true));
  }

  @Test
  void a_counter_that_many_writers_increment_loses_nothing() throws Exception {
    int each = 25;
    make("counter", "{\"count\":0}");
    this.<Integer>race(
        1,
        (documents, _, _) -> {
          int tries = 0;
          for (int done = 0; done < each; tries++) {
            if (increment(documents)) {
              done++;
            }
          }
          return tries;
        },
        (_, tries) -> assertThat(tries).allMatch(count -> count >= each));
    assertThat(documents().get("counter").orElseThrow().json())
        .isEqualTo("{\"count\":" + each * THREADS + "}");
  }

  private static boolean increment(VersionedDocuments documents) {
    VersionedDocument counter = documents.get("counter").orElseThrow();
    int count = Integer.parseInt(counter.json().replaceAll("\\D", ""));
    String next = "{\"count\":" + (count + 1) + "}";
    return documents.put("counter", counter.version(), next).isPresent();
  }

  @Test
  void a_document_that_is_created_and_deleted_repeatedly_has_one_creator_at_a_time()
      throws Exception {
    int each = 15;
    List<Version> versions = Collections.synchronizedList(new ArrayList<>());
    this.<Integer>race(
        1,
        (documents, thread, _) -> {
          int done = 0;
          while (done < each) {
            Optional<Version> made = documents.put("mutex", Version.NONE, says("thread " + thread));
            if (made.isPresent()) {
              assertThat(documents.get("mutex"))
                  .contains(new VersionedDocument("mutex", made.get(), says("thread " + thread)));
              versions.add(made.get());
              assertThat(documents.delete("mutex", made.get())).isTrue();
              done++;
            }
          }
          return done;
        },
        (_, done) -> assertThat(done).containsOnly(each));
    assertThat(versions).hasSize(each * THREADS).doesNotHaveDuplicates();
    assertThat(documents().get("mutex")).isEmpty();
    assertThat(keys("")).isEmpty();
  }
}
