package io.millrace.cluster.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.gadget.Gadget;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Invalid envelopes, none of which is deserialized. */
final class ForeignEnvelopeTest {
  private final LambdaCodec codec = TestCodecs.trustingAll();
  private final byte[] envelope =
      TestCodecs.trustingAll().sealResult(TestCodecs.HERE, new Gadget());

  @Test
  void an_envelope_signed_with_another_secret_is_refused() {
    LambdaCodec stranger =
        new LambdaCodec(
            TestCodecs.secret("another one of 20 b."), TrustedClasses.packages("io.millrace"));
    refused(stranger.sealResult(TestCodecs.HERE, new Gadget()), "not signed with this cluster's");
  }

  @Test
  void an_unsigned_envelope_is_refused() {
    byte[] unsigned = envelope.clone();
    Arrays.fill(unsigned, 1, 33, (byte) 0);
    refused(unsigned, "not signed with this cluster's secret");
  }

  @Test
  void an_envelope_with_any_bit_changed_is_refused() {
    for (int i = 0; i < envelope.length * Byte.SIZE; i++) {
      byte[] changed = envelope.clone();
      changed[i / Byte.SIZE] ^= (byte) (1 << i % Byte.SIZE);
      refused(changed, "not signed with this cluster's secret");
    }
  }

  @Test
  void an_envelope_that_was_truncated_or_extended_is_refused() {
    for (int length = 0; length < envelope.length; length++) {
      refused(Arrays.copyOf(envelope, length), length < 33 ? "too short" : "not signed");
    }
    refused(Arrays.copyOf(envelope, envelope.length + 1), "not signed");
  }

  @Test
  void an_envelope_that_is_too_large_is_refused_before_its_signature_is_checked() {
    refused(Arrays.copyOf(envelope, LambdaCodec.MAX_BYTES + 1), "it has 524289 bytes, more than");
  }

  @Test
  void an_unchanged_envelope_is_deserialized() {
    int before = Gadget.made();
    assertThatCode(() -> codec.openResult(TestCodecs.HERE, envelope)).doesNotThrowAnyException();
    assertThat(Gadget.made()).isEqualTo(before + 1);
  }

  private void refused(byte[] bytes, String why) {
    int before = Gadget.made();
    assertThatThrownBy(() -> codec.openResult(TestCodecs.HERE, bytes))
        .isInstanceOf(RefusedLambdaException.class)
        .hasMessageContaining(why);
    assertThatThrownBy(() -> codec.openLambda(bytes))
        .isInstanceOf(RefusedLambdaException.class)
        .hasMessageContaining(why);
    assertThat(Gadget.made()).isEqualTo(before);
  }
}
