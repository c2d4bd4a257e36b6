package io.millrace.wire;

import static org.assertj.core.api.Assertions.fail;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Whatever arrives is read, or refused by a WireException, never anything else. */
final class MutationTest {
  private static final List<Consumer<byte[]>> READERS =
      List.of(
          body -> Requests.readTransaction(body, ""),
          body -> Requests.readClaim(body, ""),
          body -> Requests.readRefs(body),
          body -> Responses.readOutcome(body),
          body -> Responses.readFound(body),
          body -> Responses.readDocuments(body),
          body -> Responses.readSummaries(body),
          body -> Responses.readError(body),
          body -> ChangeStream.readCommit(body),
          body -> ChangeStream.readLost(body));

  @Test
  void broken_bytes_are_refused_cleanly() {
    for (long seed = 0; seed < 8_000; seed++) {
      Samples samples = new Samples(seed);
      byte[] body =
          switch (samples.below(4)) {
            case 0 -> Requests.write(samples.transaction(""));
            case 1 -> Requests.write(samples.claim(""));
            case 2 -> Responses.write(samples.outcome(), DataForm.TEXT);
            default -> ChangeStream.write(samples.commit(), DataForm.TEXT);
          };
      for (int i = samples.below(4); i >= 0; i--) {
        body = mutate(body, samples);
      }
      for (Consumer<byte[]> reader : READERS) {
        try {
          reader.accept(body);
        } catch (WireException _) {
          // A clean refusal.
        } catch (RuntimeException e) {
          fail("seed " + seed + " of " + new String(body, StandardCharsets.UTF_8), e);
        }
      }
    }
  }

  private static byte[] mutate(byte[] body, Samples samples) {
    byte[] changed = body.clone();
    if (changed.length == 0) {
      return changed;
    }
    int at = samples.below(changed.length);
    switch (samples.below(5)) {
      case 0 -> changed[at] = (byte) samples.below(256);
      case 1 -> changed[at] = (byte) "{}[]\",:0-9ntf\\".charAt(samples.below(14));
      case 2 -> changed = Arrays.copyOf(changed, at);
      case 3 -> changed = Arrays.copyOfRange(changed, at, changed.length);
      default -> {
        byte[] tail = Arrays.copyOfRange(changed, samples.below(changed.length), changed.length);
        changed = Arrays.copyOf(changed, at + tail.length);
        System.arraycopy(tail, 0, changed, at, tail.length);
      }
    }
    return changed;
  }
}
