package io.millrace.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.millrace.store.Bytes;
import io.millrace.store.PositionLostException;
import io.millrace.store.PositionLostException.Why;
import io.millrace.store.TaskRef;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever bytes arrive, a reader reads them or throws a WireException; and what it has read is
 * written so that it reads as the same again. The seeds are valid values of every kind; {@code
 * build/fuzz} goes on from them.
 */
final class ReaderFuzzTest {
  private static final int SEEDS = 40;

  private static List<byte[]> seeds(Function<Samples, byte[]> one) {
    return IntStream.range(0, SEEDS).mapToObj(seed -> one.apply(new Samples(seed))).toList();
  }

  private static List<byte[]> both(List<byte[]> some, List<byte[]> others) {
    List<byte[]> all = new ArrayList<>(some);
    all.addAll(others);
    return all;
  }

  private static byte[] form(String field, byte[] json) {
    return ("also=this&" + field + "=" + URLEncoder.encode(new String(json, UTF_8), UTF_8))
        .getBytes(UTF_8);
  }

  private static byte[] streamed(Consumer<OutputStream> writing) {
    ByteArrayOutputStream target = new ByteArrayOutputStream();
    writing.accept(target);
    return target.toByteArray();
  }

  private static <T> void check(byte[] body, Function<byte[], T> read, Function<T, byte[]> write) {
    T value;
    try {
      value = read.apply(body);
    } catch (WireException _) {
      return;
    }
    assertThat(read.apply(write.apply(value))).isEqualTo(value);
  }

  static List<byte[]> transactions() {
    return both(
        seeds(samples -> Requests.write(samples.transaction(""))),
        seeds(samples -> form("update", Requests.write(samples.transaction("")))));
  }

  @MethodSource("transactions")
  @FuzzTest
  void a_transaction_is_read_or_refused(byte[] body) {
    check(body, bytes -> Requests.readTransaction(bytes, ""), Requests::write);
  }

  static List<byte[]> claims() {
    return both(
        seeds(samples -> Requests.write(samples.claim(""))),
        seeds(samples -> form("claim", Requests.write(samples.claim("")))));
  }

  @MethodSource("claims")
  @FuzzTest
  void a_claim_is_read_or_refused(byte[] body) {
    check(body, bytes -> Requests.readClaim(bytes, ""), Requests::write);
  }

  static List<byte[]> references() {
    return seeds(samples -> Requests.write(samples.list(samples::ref)));
  }

  @MethodSource("references")
  @FuzzTest
  void a_list_of_references_is_read_or_refused(byte[] body) {
    check(body, Requests::readRefs, Requests::write);
  }

  private static String path(List<TaskRef> refs) {
    return refs.stream()
        .map(ref -> (ref.id() == 0 ? "" : ref.id()) + (ref.origin() == 0 ? "" : "~" + ref.origin()))
        .collect(Collectors.joining(","));
  }

  static List<byte[]> paths() {
    return seeds(samples -> path(samples.list(samples::ref)).getBytes(UTF_8));
  }

  @MethodSource("paths")
  @FuzzTest
  void references_in_a_path_are_read_or_refused(byte[] body) {
    check(
        body,
        bytes -> Requests.readRefs(new String(bytes, UTF_8)),
        refs -> path(refs).getBytes(UTF_8));
  }

  static List<byte[]> outcomes() {
    return both(
        seeds(samples -> Responses.write(samples.outcome(), DataForm.TEXT)),
        seeds(samples -> Responses.write(samples.outcome(), DataForm.BASE64)));
  }

  @MethodSource("outcomes")
  @FuzzTest
  void an_outcome_is_read_or_refused(byte[] body) {
    check(body, Responses::readOutcome, outcome -> Responses.write(outcome, DataForm.TEXT));
  }

  static List<byte[]> tasks() {
    return seeds(samples ->
        streamed(target ->
            Responses.writeFound(
                target,
                samples.list(() -> samples.coin() ? Optional.of(samples.task()) : Optional.empty()),
                samples.number(),
                DataForm.TEXT)));
  }

  @MethodSource("tasks")
  @FuzzTest
  void a_list_of_tasks_is_read_or_refused(byte[] body) {
    check(
        body,
        Responses::readFound,
        found -> streamed(target -> Responses.writeFound(target, found, 0, DataForm.TEXT)));
  }

  static List<byte[]> documents() {
    return seeds(samples ->
        streamed(target ->
            Responses.writeDocuments(target, samples.list(samples::document), DataForm.TEXT)));
  }

  @MethodSource("documents")
  @FuzzTest
  void a_list_of_documents_is_read_or_refused(byte[] body) {
    check(
        body,
        Responses::readDocuments,
        found -> streamed(target -> Responses.writeDocuments(target, found, DataForm.TEXT)));
  }

  static List<byte[]> summaries() {
    return seeds(samples -> Responses.writeSummaries(samples.list(samples::summary)));
  }

  @MethodSource("summaries")
  @FuzzTest
  void a_list_of_groups_is_read_or_refused(byte[] body) {
    check(body, Responses::readSummaries, Responses::writeSummaries);
  }

  static List<byte[]> errors() {
    return both(
        seeds(samples -> Responses.writeError(samples.name())),
        seeds(samples -> Responses.writeErrors(samples.name(), null)));
  }

  @MethodSource("errors")
  @FuzzTest
  void an_error_is_read_or_refused(byte[] body) {
    check(body, Responses::readError, Responses::writeError);
  }

  static List<byte[]> commits() {
    return both(
        seeds(samples -> ChangeStream.write(samples.commit(), DataForm.TEXT)),
        seeds(samples -> ChangeStream.write(samples.commit(), DataForm.BASE64)));
  }

  @MethodSource("commits")
  @FuzzTest
  void a_commit_is_read_or_refused(byte[] body) {
    check(body, ChangeStream::readCommit, commit -> ChangeStream.write(commit, DataForm.TEXT));
  }

  private static byte[] lost(Why why, Samples samples) {
    return ChangeStream.write(new PositionLostException(why, samples.position(), samples.name()));
  }

  static List<byte[]> losses() {
    return seeds(samples -> lost(samples.oneOf(Why.values()), samples));
  }

  @MethodSource("losses")
  @FuzzTest
  void the_end_of_a_stream_is_read_or_refused(byte[] body) {
    try {
      PositionLostException lost = ChangeStream.readLost(body);
      PositionLostException again = ChangeStream.readLost(ChangeStream.write(lost));
      assertThat(again.why()).isEqualTo(lost.why());
      assertThat(again.position()).isEqualTo(lost.position());
    } catch (WireException _) {
      // A clean refusal.
    }
  }

  static List<byte[]> quarantined() {
    return seeds(samples -> QuarantinedTask.of(samples.task(), samples.name()).write().toArray());
  }

  @MethodSource("quarantined")
  @FuzzTest
  void a_quarantined_task_is_read_or_refused(byte[] body) {
    check(body, bytes -> QuarantinedTask.read(Bytes.copyOf(bytes)), task -> task.write().toArray());
  }
}
