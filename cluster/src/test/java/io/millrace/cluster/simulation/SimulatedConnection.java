package io.millrace.cluster.simulation;

import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One member's connection to the documents. Requests and responses take time, and may be late or
 * lost.
 */
final class SimulatedConnection implements VersionedDocuments {
  private static final long TIMEOUT_MILLIS = 400;
  private static final long LATE_MILLIS = 3000;

  private final World world;
  private final SimulatedDocuments documents;
  private final Host host;
  private final Faults faults;

  SimulatedConnection(World world, SimulatedDocuments documents, Host host, Faults faults) {
    this.world = world;
    this.documents = documents;
    this.host = host;
    this.faults = faults;
  }

  private static final class Reply<T> {
    private @Nullable T value;
  }

  @Override
  public Optional<VersionedDocument> get(String key) {
    return ask(() -> documents.get(key));
  }

  @Override
  public List<VersionedDocument> list(String prefix) {
    long age = faults.isOn() ? world.between(0, SimulatedDocuments.STALE_MILLIS) : 0;
    return ask(() -> documents.list(prefix, age));
  }

  @Override
  public long listingAgeMillis() {
    return faults.isOn() ? SimulatedDocuments.STALE_MILLIS : 0;
  }

  @Override
  public Optional<Version> put(String key, Version expected, String json) {
    return change(() -> documents.put(key, expected, json));
  }

  @Override
  public boolean delete(String key, Version expected) {
    return change(() -> documents.delete(key, expected));
  }

  private <T> T ask(Supplier<T> question) {
    T answer = send(question);
    if (answer == null) {
      throw new DocumentsUnavailableException("no answer");
    }
    return answer;
  }

  private <T> T change(Supplier<T> change) {
    if (host.isCutOff() && world.oneIn(2)) {
      host.pass(world.between(0, 5));
      throw new DocumentsUnavailableException("no connection");
    }
    T answer = send(change);
    if (answer == null) {
      throw new UnclearOutcomeException("no answer");
    }
    return answer;
  }

  /**
   * Sends a request, which is executed once, late or never; returns null if there is no response in
   * time.
   */
  private <T> @Nullable T send(Supplier<T> request) {
    Reply<T> reply = new Reply<>();
    boolean cut = host.isCutOff();
    boolean lost = cut || (faults.isOn() && world.oneIn(30));
    boolean late = faults.isOn() && world.oneIn(30);
    long there = late ? world.between(1, LATE_MILLIS) : world.between(0, 5);
    long back = faults.isOn() && world.oneIn(30) ? TIMEOUT_MILLIS : world.between(0, 5);
    if (!lost) {
      world.in(there, () -> reply.value = request.get());
    }
    long wait = lost ? TIMEOUT_MILLIS : Math.min(there + back, TIMEOUT_MILLIS);
    host.pass(wait);
    return wait == TIMEOUT_MILLIS ? null : reply.value;
  }

  @Override
  public void close() {}
}
