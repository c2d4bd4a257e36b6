package io.millrace.access;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.access.AccessException.AccessConflictException;
import io.millrace.access.AccessException.InvalidAccessException;
import io.millrace.access.AccessException.UnknownPrincipalException;
import io.millrace.access.AccessRegistry.Change;
import io.millrace.access.AccessRegistry.NewKey;
import io.millrace.access.AccessRegistry.NewPrincipal;
import io.millrace.access.AccessRegistry.NewSession;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Principals and keys in a real store, and what their credentials give. */
final class AccessRegistryTest {
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
  private static final NewKey KEY = new NewKey("first", null);
  private static final String PASSWORD = "correct horse battery";

  private final SecureRandom random = new SecureRandom();
  private final AtomicReference<Instant> time = new AtomicReference<>(BEGIN);
  private final InstantSource clock = time::get;
  @TempDir private Path folder;
  private TaskStore store;
  private AccessDirectory directory;
  private AccessRegistry registry;

  @BeforeEach
  void open() {
    store = TaskStore.open(StoreOptions.in(folder));
    directory = AccessDirectory.open(store, clock, random);
    registry = new AccessRegistry(store, clock, random, directory);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private String create(String name, Role role) {
    return created(principal(name, role)).text();
  }

  private AccessKey.Created created(NewPrincipal principal) {
    return requireNonNull(registry.create(principal, KEY, "tester").key());
  }

  private static NewPrincipal principal(String name, Role role) {
    return new NewPrincipal(name, Set.of(role), Reach.EVERYTHING, "", null, null);
  }

  private static Change roles(Role role) {
    return new Change(Set.of(role), null, null, null, null, null);
  }

  @Test
  void a_key_gives_the_roles_and_the_reach_of_its_principal() {
    Reach reach = new Reach(Set.of("mail"), Set.of(), Set.of("image-"), Set.of("17"));
    String text =
        created(
                new NewPrincipal(
                    "builder", Set.of(Role.SUBMITTER, Role.WORKER), reach, "", null, null))
            .text();

    Grant grant = directory.byKey(text).orElseThrow();
    assertThat(grant.principal()).isEqualTo("builder");
    assertThat(grant.roles()).containsExactly(Role.SUBMITTER, Role.WORKER);
    assertThat(grant.reach()).isEqualTo(reach);
    assertThat(grant.isOver()).isFalse();
    assertThat(directory.byKey(text)).containsSame(grant);
  }

  private AccessSession.Created session(String principal) {
    return registry.createSession(
        new NewSession(principal, null, null, Duration.ofHours(12), "127.0.0.1"));
  }

  @Test
  void a_session_ends_by_its_time_and_when_it_goes_unused_and_is_deleted() {
    create("ann", Role.VIEWER);
    String used = session("ann").text();
    String unused = session("ann").text();
    Grant grant = directory.bySession(used).orElseThrow();
    assertThat(grant.principal()).isEqualTo("ann");
    assertThat(directory.bySession(used + "x")).isEmpty();
    for (int hour = 1; hour < 12; hour++) {
      time.set(BEGIN.plus(Duration.ofHours(hour)));
      assertThat(directory.bySession(used)).as("%d hours", hour).isPresent();
      assertThat(directory.step(time.get())).isAfter(time.get());
    }
    assertThat(directory.bySession(unused)).isEmpty();
    assertThat(registry.sessions()).hasSize(1);
    time.set(BEGIN.plus(Duration.ofHours(12)));
    assertThat(directory.bySession(used)).isEmpty();
    directory.step(time.get());
    assertThat(grant.isOver()).isTrue();
    assertThat(registry.sessions()).isEmpty();
  }

  @Test
  void the_oldest_session_of_a_principal_gives_way_to_the_101st() {
    create("ann", Role.VIEWER);
    String first = session("ann").text();
    for (int number = 1; number < 100; number++) {
      time.set(BEGIN.plusSeconds(number));
      session("ann");
    }
    assertThat(directory.bySession(first)).isPresent();
    time.set(BEGIN.plusSeconds(100));
    session("ann");
    assertThat(directory.bySession(first)).isEmpty();
    assertThat(registry.sessions()).hasSize(100);
  }

  @Test
  void only_the_very_key_counts() {
    String text = create("builder", Role.SUBMITTER);
    char last = text.charAt(text.length() - 1);
    assertThat(directory.byKey(text.substring(0, text.length() - 1) + (last == 'a' ? 'b' : 'a')))
        .isEmpty();
    assertThat(directory.byKey(text + "a")).isEmpty();
    assertThat(directory.byKey("")).isEmpty();
    assertThat(directory.byKey("mr_")).isEmpty();
    assertThat(directory.byKey(text.replaceFirst("mr_", "MR_"))).isEmpty();
  }

  @Test
  void neither_keys_nor_passwords_are_stored() {
    NewPrincipal user =
        new NewPrincipal("ann", Set.of(Role.ADMIN), Reach.EVERYTHING, "", PASSWORD, null);
    String text = created(user).text();
    String secret = text.substring(12);
    for (Document document : store.documents(DocumentQuery.prefix("access", "")).value()) {
      assertThat(document.body().utf8()).doesNotContain(secret).doesNotContain(PASSWORD);
    }
  }

  @Test
  void a_revoked_key_ends_at_once_and_the_others_of_its_principal_go_on() {
    String first = create("builder", Role.SUBMITTER);
    AccessKey.Created second = registry.addKey("builder", new NewKey("second", null), "tester");
    Grant grant = directory.byKey(second.text()).orElseThrow();
    AtomicInteger ended = new AtomicInteger();
    grant.onEnd(ended::incrementAndGet);

    registry.revoke(second.key().prefix());

    assertThat(directory.byKey(second.text())).isEmpty();
    assertThat(grant.isOver()).isTrue();
    assertThat(ended).hasValue(1);
    assertThat(directory.byKey(first)).isPresent();
    assertThatThrownBy(() -> registry.revoke(second.key().prefix()))
        .isInstanceOf(UnknownPrincipalException.class);
  }

  @Test
  void an_ending_that_was_taken_back_does_not_run() {
    String text = create("builder", Role.SUBMITTER);
    Grant grant = directory.byKey(text).orElseThrow();
    AtomicInteger ended = new AtomicInteger();
    grant.onEnd(ended::incrementAndGet).run();
    registry.delete("builder");
    assertThat(ended).hasValue(0);
    grant.onEnd(ended::incrementAndGet);
    assertThat(ended).hasValue(1);
  }

  @Test
  void with_its_principal_all_of_its_credentials_end() {
    String text = create("builder", Role.SUBMITTER);
    Grant grant = directory.byKey(text).orElseThrow();
    registry.delete("builder");
    assertThat(grant.isOver()).isTrue();
    assertThat(directory.byKey(text)).isEmpty();
    assertThat(registry.principals()).isEmpty();
    assertThat(registry.keys()).isEmpty();
    create("builder", Role.SUBMITTER);
    assertThat(directory.byKey(text)).isEmpty();
  }

  @Test
  void other_roles_end_what_the_old_ones_gave() {
    String text = create("builder", Role.SUBMITTER);
    Grant old = directory.byKey(text).orElseThrow();
    registry.change("builder", roles(Role.VIEWER));
    assertThat(old.isOver()).isTrue();
    assertThat(directory.byKey(text).orElseThrow().roles()).containsExactly(Role.VIEWER);
  }

  @Test
  void another_note_or_another_key_ends_nothing() {
    String text = create("builder", Role.SUBMITTER);
    Grant grant = directory.byKey(text).orElseThrow();
    registry.change("builder", new Change(null, null, "builds", null, null, null));
    registry.addKey("builder", KEY, "tester");
    assertThat(grant.isOver()).isFalse();
    assertThat(directory.byKey(text)).containsSame(grant);
    assertThat(registry.principal("builder").orElseThrow().note()).isEqualTo("builds");
  }

  @Test
  void a_disabled_principal_has_no_credentials_until_it_is_enabled() {
    String text = create("builder", Role.SUBMITTER);
    registry.change("builder", new Change(null, null, null, PASSWORD, true, null));
    assertThat(directory.byKey(text)).isEmpty();
    assertThat(directory.byPassword("builder", PASSWORD)).isEmpty();
    registry.change("builder", new Change(null, null, null, null, false, null));
    assertThat(directory.byKey(text)).isPresent();
    assertThat(directory.byPassword("builder", PASSWORD)).isPresent();
  }

  @Test
  void a_key_counts_until_it_expires() {
    create("builder", Role.SUBMITTER);
    Instant expires = BEGIN.plus(Duration.ofDays(1));
    AccessKey.Created key = registry.addKey("builder", new NewKey("", expires), "tester");
    Grant grant = directory.byKey(key.text()).orElseThrow();
    time.set(expires.minusMillis(1));
    assertThat(directory.byKey(key.text())).isPresent();
    assertThat(directory.step(time.get())).isEqualTo(expires);
    assertThat(grant.isOver()).isFalse();
    time.set(expires);
    assertThat(directory.byKey(key.text())).isEmpty();
    directory.step(time.get());
    assertThat(grant.isOver()).isTrue();
    assertThatThrownBy(() -> registry.addKey("builder", new NewKey("", BEGIN), "tester"))
        .isInstanceOf(InvalidAccessException.class);
  }

  @Test
  void the_last_use_of_a_key_is_noted_to_the_minute() {
    String text = create("builder", Role.SUBMITTER);
    assertThat(registry.keys()).extracting(AccessKey::lastUsed).containsOnlyNulls();
    directory.byKey(text);
    time.set(BEGIN.plusSeconds(59));
    directory.byKey(text);
    directory.step(time.get());
    assertThat(registry.keys()).extracting(AccessKey::lastUsed).containsExactly(BEGIN);
    time.set(BEGIN.plusSeconds(61));
    directory.byKey(text);
    directory.step(time.get());
    assertThat(registry.keys())
        .extracting(AccessKey::lastUsed)
        .containsExactly(BEGIN.plusSeconds(61));
  }

  @Test
  void a_key_that_was_revoked_leaves_no_note_of_its_use() {
    String text = create("builder", Role.SUBMITTER);
    directory.byKey(text);
    registry.delete("builder");
    directory.step(time.get());
    assertThat(store.documents(DocumentQuery.prefix("access.uses", "")).value()).isEmpty();
  }

  @Test
  void a_password_counts_until_there_is_another() {
    NewPrincipal user =
        new NewPrincipal("ann", Set.of(Role.VIEWER), Reach.EVERYTHING, "", PASSWORD, null);
    registry.create(user, null, "tester");
    assertThat(directory.byKnownPassword("ann", PASSWORD)).isEmpty();
    Grant grant = directory.byPassword("ann", PASSWORD).orElseThrow();
    assertThat(directory.byKnownPassword("ann", PASSWORD)).containsSame(grant);
    assertThat(directory.byPassword("ann", PASSWORD + "!")).isEmpty();
    assertThat(directory.byPassword("bob", PASSWORD)).isEmpty();

    registry.change("ann", new Change(null, null, null, "another password", null, null));
    assertThat(grant.isOver()).isTrue();
    assertThat(directory.byPassword("ann", PASSWORD)).isEmpty();
    assertThat(directory.byPassword("ann", "another password")).isPresent();

    registry.change("ann", new Change(null, null, null, "", null, null));
    assertThat(directory.byPassword("ann", "another password")).isEmpty();
    assertThat(registry.principal("ann").orElseThrow().hasPassword()).isFalse();
  }

  @Test
  void everything_is_there_after_a_restart() {
    String text = create("builder", Role.OPERATOR);
    List<Principal> before = registry.principals();
    close();
    open();
    assertThat(registry.principals()).isEqualTo(before);
    assertThat(directory.byKey(text).orElseThrow().roles()).containsExactly(Role.OPERATOR);
  }

  @Test
  void what_is_wrong_is_refused_and_changes_nothing() {
    create("builder", Role.SUBMITTER);
    assertThatThrownBy(() -> create("builder", Role.ADMIN))
        .isInstanceOf(AccessConflictException.class)
        .hasMessageContaining("builder");
    for (String name : List.of("", " ", "a b", "ä", "local", "-a", "a".repeat(64), "a/b")) {
      assertThatThrownBy(() -> create(name, Role.VIEWER))
          .isInstanceOf(InvalidAccessException.class);
    }
    assertThatThrownBy(
            () -> registry.change("builder", new Change(Set.of(), null, null, null, null, null)))
        .isInstanceOf(InvalidAccessException.class);
    assertThatThrownBy(() -> registry.change("nobody", roles(Role.VIEWER)))
        .isInstanceOf(UnknownPrincipalException.class);
    assertThatThrownBy(() -> registry.addKey("nobody", KEY, "tester"))
        .isInstanceOf(UnknownPrincipalException.class);
    assertThatThrownBy(() -> registry.delete("x".repeat(2_000)))
        .isInstanceOf(UnknownPrincipalException.class);
    assertThatThrownBy(
            () -> registry.change("builder", new Change(null, null, null, "short", null, null)))
        .isInstanceOf(InvalidAccessException.class);
    assertThatThrownBy(() -> new Reach(Set.of(), Set.of(), Set.of(), Set.of("x")))
        .isInstanceOf(InvalidAccessException.class);
    assertThat(registry.principals()).extracting(Principal::name).containsExactly("builder");
  }

  @Test
  void a_damaged_document_counts_for_nothing() {
    String text = create("builder", Role.SUBMITTER);
    String prefix = text.substring(3, 11);
    var _ =
        store.commit(
            Transaction.by(Owner.client(1))
                .put(
                    new DocumentKey("access", "key/" + prefix),
                    Transaction.DocumentVersion.ANY,
                    Bytes.of("{\"principal\":"))
                .build());
    registry.addKey("builder", KEY, "tester");
    assertThat(directory.byKey(text)).isEmpty();
    assertThat(registry.keys()).hasSize(1);
  }

  @Test
  void no_key_outlives_its_principal_however_they_race() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < 20; round++) {
        create("builder", Role.SUBMITTER);
        List<Future<String>> adding = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
          adding.add(
              threads.submit(() -> {
                try {
                  return registry.addKey("builder", KEY, "tester").text();
                } catch (UnknownPrincipalException _) {
                  return "";
                }
              }));
        }
        Future<?> deleting = threads.submit(() -> registry.delete("builder"));
        deleting.get();
        for (Future<String> added : adding) {
          assertThat(directory.byKey(added.get())).isEmpty();
        }
        assertThat(registry.keys()).isEmpty();
      }
    }
  }

  @Test
  void a_rate_counts_for_each_key_and_fills_up_with_time() {
    NewPrincipal principal =
        new NewPrincipal("builder", Set.of(Role.VIEWER), Reach.EVERYTHING, "", null, 3);
    Grant first = directory.byKey(created(principal).text()).orElseThrow();
    Grant second = directory.byKey(registry.addKey("builder", KEY, "tester").text()).orElseThrow();
    long second0 = Long.MIN_VALUE;
    for (int i = 0; i < 3; i++) {
      assertThat(first.admits(second0)).isTrue();
    }
    assertThat(first.admits(second0)).isFalse();
    assertThat(second.admits(second0)).isTrue();
    assertThat(first.admits(second0 + 200_000_000)).isFalse();
    assertThat(first.admits(second0 + 400_000_000)).isTrue();
    assertThat(first.admits(second0 + 400_000_000)).isFalse();
    for (int i = 0; i < 3; i++) {
      assertThat(first.admits(second0 + 60_000_000_000L)).isTrue();
    }
    assertThat(first.admits(second0 + 60_000_000_000L)).isFalse();

    registry.change("builder", new Change(null, null, null, null, null, 0));
    assertThat(first.isOver()).isTrue();
    assertThatThrownBy(
            () -> registry.change("builder", new Change(null, null, null, null, null, -1)))
        .isInstanceOf(InvalidAccessException.class);
  }
}
