package io.millrace.server;

import io.millrace.access.AccessDirectory;
import io.millrace.http.HttpServer;
import io.millrace.server.MillraceServer.Setup;
import io.millrace.server.access.AccessSettings;
import io.millrace.server.security.Access;
import io.millrace.server.security.Principals;
import io.millrace.store.TaskStore;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The rules of access with the principals of a store that this server follows: a copy in memory,
 * which is read again when it is too old. Thread-safe.
 */
final class FollowedPrincipals {
  private final Setup setup;
  private final HttpServer.Endpoint endpoint;
  private final TaskStore store;
  private final SecureRandom random;
  private volatile @Nullable Copy copy;

  /**
   * The principals as of a moment.
   *
   * @param access the rules with these principals
   * @param nanos the monotonic clock at the moment
   * @param wallMillis the wall clock, since the other one stands still while a machine is suspended
   */
  private record Copy(AccessDirectory directory, Access access, long nanos, long wallMillis) {
    Duration age() {
      long byNanos = System.nanoTime() - nanos;
      long byWall = (System.currentTimeMillis() - wallMillis) * 1_000_000;
      return Duration.ofNanos(Math.max(byNanos, byWall));
    }
  }

  /**
   * No copy yet.
   *
   * @param store reads what the server follows
   */
  FollowedPrincipals(
      Setup setup, HttpServer.Endpoint endpoint, TaskStore store, SecureRandom random) {
    this.setup = setup;
    this.endpoint = endpoint;
    this.store = store;
    this.random = random;
  }

  /** The rules with the copy in memory; null if it is older than the bound. */
  @Nullable Access inMemory(Duration bound) {
    Copy known = copy;
    return known != null && known.age().compareTo(bound) <= 0 ? known.access() : null;
  }

  /**
   * The rules with principals of no greater age than the bound.
   *
   * @param age how old what the store has just read is
   */
  Access access(Duration bound, Supplier<Duration> age) {
    Access known = inMemory(bound);
    return known == null ? refreshed(bound, age) : known;
  }

  private synchronized Access refreshed(Duration bound, Supplier<Duration> age) {
    Access current = inMemory(bound);
    if (current != null) {
      return current;
    }
    // In this order, so that they are not older than they seem.
    long nanos = System.nanoTime();
    long wallMillis = System.currentTimeMillis();
    AccessSettings settings = setup.configuration().get(AccessSettings.SECTION);
    Copy known = copy;
    AccessDirectory directory;
    Access access;
    if (known == null) {
      InstantSource clock = InstantSource.system();
      directory = AccessDirectory.open(store, clock, random, settings.rules());
      access =
          Access.to(
              endpoint.address(),
              setup.token(),
              new Principals(directory, clock, random, setup.localKey()),
              setup.requiresCredentials(),
              setup.front());
    } else {
      directory = known.directory();
      access = known.access();
      directory.refresh();
    }
    Duration old = age.get();
    copy = new Copy(directory, access, nanos - old.toNanos(), wallMillis - old.toMillis());
    return access;
  }
}
