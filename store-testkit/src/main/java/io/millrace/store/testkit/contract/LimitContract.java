package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Limits: each accepts the largest allowed value, and a refusal names the limit. */
abstract class LimitContract extends StoreTopic {
  private static final int REACHABLE = 10_000;
  private static final int REACHABLE_BYTES = 1 << 20;
  private static final long REACHABLE_MEMORY = 16 << 20;

  @Test
  void a_group_name_has_at_most_512_bytes() {
    String longest = "ü".repeat(256);
    add(longest, "");
    assertThat(claim(ALICE, longest).group()).isEqualTo(longest);
    refusedFor("512", Transaction.by(ALICE).add(longest + "x", ""));
    refusedFor("512", refused(store().claim(Claim.of(ALICE, longest + "x", LEASE))));
  }

  @Test
  void document_names_have_at_most_512_bytes() {
    String longest = "k".repeat(512);
    commit(Transaction.by(ALICE).put(new DocumentKey(longest, longest), 0, Bytes.EMPTY));
    assertThat(store().document(new DocumentKey(longest, longest)).value()).isPresent();
    refusedFor(
        "512", Transaction.by(ALICE).put(new DocumentKey(longest + "x", "k"), 0, Bytes.EMPTY));
    refusedFor(
        "512", Transaction.by(ALICE).put(new DocumentKey("c", longest + "x"), 0, Bytes.EMPTY));
  }

  @Test
  void a_request_id_has_at_most_128_bytes() {
    commit(Transaction.by(ALICE).add("a", "").requestId("x".repeat(128)));
    refusedFor("128", Transaction.by(ALICE).add("a", "").requestId("x".repeat(129)));
    refusedFor(
        "128", refused(store().claim(Claim.of(ALICE, "a", LEASE).withRequestId("ü".repeat(65)))));
    assertThat(tasksOf("a")).hasSize(1);
  }

  @Test
  void a_claim_names_a_most_number_of_groups() {
    int most = limits().claimGroups();
    assumeTrue(most <= REACHABLE, "the limit of a claim's groups is out of reach");
    List<String> groups = IntStream.range(0, most + 1).mapToObj(i -> "g" + i).toList();
    Claim claim = Claim.of(ALICE, "a", LEASE);
    assertThat(claimed(claim.withGroups(groups.subList(0, most)))).isEmpty();
    refusedFor(Integer.toString(most), refused(store().claim(claim.withGroups(groups))));
  }

  @Test
  void a_full_store_refuses_growth_while_claims_and_deletes_go_on() {
    long room = limits().memoryBytes();
    assumeTrue(room <= REACHABLE_MEMORY, "the limit of memory is out of reach");
    Bytes large = Bytes.copyOf(new byte[limits().dataBytes()]);
    Outcome outcome = store().commit(Transaction.by(ALICE).add("a", large).build());
    while (outcome instanceof Outcome.Done) {
      outcome = store().commit(Transaction.by(ALICE).add("a", large).build());
    }
    assertThat(kinds(refused(outcome))).containsExactly(Kind.FULL);
    Task held = claim(ALICE, "a");
    Task smaller =
        commit(Transaction.by(ALICE).update(held.ref(), Bytes.of("done"), When.after(LEASE)))
            .tasks()
            .getFirst();
    commit(Transaction.by(ALICE).delete(smaller.ref()));
    assertThat(commit(Transaction.by(ALICE).add("b", "fits again")).tasks()).hasSize(1);
  }

  @Test
  void a_transaction_has_a_most_number_of_parts() {
    int most = limits().operations();
    assumeTrue(most <= REACHABLE, "the limit of operations is out of reach");
    assertThat(commit(parts(most)).tasks()).hasSize(most);
    refusedFor(Integer.toString(most), parts(most + 1));
    refusedFor(
        Integer.toString(most),
        parts(most).put(doc("one too many"), DocumentVersion.ANY, Bytes.EMPTY));
    assertThat(tasksOf("a")).hasSize(most);
  }

  @Test
  void the_data_of_a_task_has_a_most_size() {
    int most = limits().dataBytes();
    assumeTrue(most <= REACHABLE_BYTES, "the limit of data is out of reach");
    Bytes largest = Bytes.copyOf(new byte[most]);
    assertThat(commit(Transaction.by(ALICE).add("a", largest)).tasks().getFirst().data())
        .isEqualTo(largest);
    refusedFor(
        Integer.toString(most), Transaction.by(ALICE).add("a", Bytes.copyOf(new byte[most + 1])));
  }

  @Test
  void the_body_of_a_document_has_a_most_size() {
    int most = limits().dataBytes();
    assumeTrue(most <= REACHABLE_BYTES, "the limit of data is out of reach");
    commit(Transaction.by(ALICE).put(doc("x"), 0, Bytes.copyOf(new byte[most])));
    refusedFor(
        Integer.toString(most),
        Transaction.by(ALICE).put(doc("y"), 0, Bytes.copyOf(new byte[most + 1])));
  }

  @Test
  void a_transaction_has_a_most_size() {
    int most = limits().transactionBytes();
    assumeTrue(most <= REACHABLE_BYTES, "the limit of a transaction's bytes is out of reach");
    Transaction.Builder large = Transaction.by(ALICE);
    for (int bytes = 0; bytes <= most; bytes += limits().dataBytes()) {
      large.add("a", Bytes.copyOf(new byte[limits().dataBytes()]));
    }
    refusedFor(Integer.toString(most), large);
    assertThat(tasksOf("a")).isEmpty();
  }

  @Test
  void a_claim_takes_a_most_number_of_tasks() {
    int most = limits().claimCount();
    assumeTrue(most <= REACHABLE, "the limit of a claim's count is out of reach");
    Claim claim = Claim.of(ALICE, "a", LEASE);
    assertThat(claimed(claim.withCount(most))).isEmpty();
    refusedFor(Integer.toString(most), refused(store().claim(claim.withCount(most + 1))));
  }

  @Test
  void a_most_number_of_claims_wait() {
    int most = limits().waitingClaims();
    assumeTrue(most <= REACHABLE, "the limit of waiting claims is out of reach");
    Claim wait = Claim.of(ALICE, "a", LEASE).withWait(Duration.ofMinutes(1));
    List<CompletableFuture<Outcome>> waiting = new ArrayList<>();
    for (int i = 0; i < most; i++) {
      waiting.add(submit(wait));
    }
    settle();
    Outcome.Refused refused = refused(answer(submit(wait)));
    assertThat(kinds(refused)).containsExactly(Kind.FULL);
    assertThat(refused.reasons().getFirst().message()).contains(Integer.toString(most));
    assertThat(waiting.getFirst().cancel(false)).isTrue();
    settle();
    assertThat(submit(wait)).isNotDone();
    waiting.forEach(future -> future.cancel(false));
  }

  @Test
  void a_most_number_of_subscribers_listen() {
    int most = limits().subscribers();
    assumeTrue(most <= REACHABLE, "the limit of subscribers is out of reach");
    List<Subscription> subscriptions = new ArrayList<>();
    for (int i = 0; i < freeSubscriptions(); i++) {
      subscriptions.add(store().subscribe(Interest.everything()));
    }
    assertThatThrownBy(() -> store().subscribe(Interest.everything()).close())
        .isInstanceOf(StoreException.class)
        .hasMessageContaining(Integer.toString(most));
    subscriptions.removeFirst().close();
    settle();
    subscriptions.add(store().subscribe(Interest.everything()));
    subscriptions.forEach(Subscription::close);
  }

  @Test
  void a_refusal_for_size_changes_nothing_and_the_store_goes_on() {
    refused(Transaction.by(Owner.client(3)).add("g".repeat(513), "x").add("a", "x"));
    assertThat(store().groups().value()).isEmpty();
    assertThat(add("a", "x").group()).isEqualTo("a");
  }

  private static Transaction.Builder parts(int count) {
    Transaction.Builder parts = Transaction.by(ALICE);
    for (int i = 0; i < count; i++) {
      parts.add("a", "");
    }
    return parts;
  }

  private void refusedFor(String limit, Transaction.Builder transaction) {
    refusedFor(limit, refused(transaction));
  }

  private static void refusedFor(String limit, Outcome.Refused refused) {
    assertThat(kinds(refused)).containsOnly(Kind.TOO_LARGE);
    assertThat(refused.reasons().getFirst().message().replaceAll("[,_ ]", "")).contains(limit);
  }
}
