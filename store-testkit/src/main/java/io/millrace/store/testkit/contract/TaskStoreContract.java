package io.millrace.store.testkit.contract;

import org.junit.jupiter.api.Nested;

/**
 * The contract of task stores. Extend this class and supply a fixture to run all topics:
 *
 * <pre>
 *   class MyStoreTest extends TaskStoreContract {
 *     protected StoreFixture newFixture() { return new MyFixture(); }
 *   }
 * </pre>
 */
public abstract class TaskStoreContract {
  /** Creates a fixture with an empty open store; called once for each test. */
  protected abstract StoreFixture newFixture();

  @Nested
  class Transactions extends TransactionContract {}

  @Nested
  class Malformed extends MalformedContract {}

  @Nested
  class Claims extends ClaimContract {}

  @Nested
  class Takings extends TakingContract {}

  @Nested
  class Throttlings extends ThrottlingContract {}

  @Nested
  class WaitingClaims extends WaitingClaimContract {}

  @Nested
  class Leases extends LeaseContract {}

  @Nested
  class Ownership extends OwnershipContract {}

  @Nested
  class Origins extends OriginContract {}

  @Nested
  class Documents extends DocumentContract {}

  @Nested
  class RequestIds extends RequestIdContract {}

  @Nested
  class Reads extends ReadContract {}

  @Nested
  class Subscriptions extends SubscriptionContract {}

  @Nested
  class StatedLimits extends LimitContract {}

  @Nested
  class EdgeInputs extends EdgeInputContract {}
}
