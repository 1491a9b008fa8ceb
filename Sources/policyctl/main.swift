print("policyctl")
