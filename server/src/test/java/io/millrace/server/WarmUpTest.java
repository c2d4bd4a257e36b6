package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThatCode;

import org.junit.jupiter.api.Test;

final class WarmUpTest {
  @Test
  void the_requests_by_which_a_standby_warms_up_are_accepted() {
    assertThatCode(WarmUp::rehearse).doesNotThrowAnyException();
  }
}
